"""Guesses how a reply goes on, so that several of its tokens can be drawn from one pass of the model.

Replies are predictable: they repeat the grammar's phrases and copy names and numbers from the page. A guess is only
ever checked against what is drawn, so a wrong one costs time and never changes a reply. No second model.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

MOST = 15  # tokens guessed at a time: with the one before them they still attend together (kv.SHORT)
CONTEXTS = (5, 3, 2)  # preceding tokens of the reply that a guess from earlier replies goes by, the longer first
COPIED = 3  # tokens of the reply that must stand on the page for a guess to copy what follows there
COPYING = 0.8  # how sure a copy is that no earlier reply speaks for
FLOOR = 0.2  # a guess ends where it is less likely right than this, as a whole
FLOOR_WHEN_FULL = 0.5  # while prompts wait for a place in the pass, which a wrong guess takes from them
BEFORE = -1  # stands for what precedes a reply
REMEMBERED = 200_000  # contexts: then the table is begun anew
LEAST_SHARE = 0.3  # of guessed tokens that must turn out right for guessing to be worth its time
PROBE_EVERY = 16  # while it is not, guesses are still made so often, to notice when it is again
FADE = 0.98


class Page:
    """Where the tokens of a prompt stand, to copy from."""

    def __init__(self, ids: Sequence[int]) -> None:
        self._ids = ids
        self._after: dict[tuple[int, ...], int] | None = None  # made when first asked: many replies never copy

    def next_after(self, said: Sequence[int]) -> int | None:
        if self._after is None:
            ids = self._ids
            self._after = {tuple(ids[at - COPIED : at]): at for at in range(COPIED, len(ids))}
        at = self._after.get(tuple(said[-COPIED:]))
        return None if at is None else self._ids[at]


class Drafter:
    def __init__(self) -> None:
        self._following: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        self._share = 0.7  # of guessed tokens that were right, lately
        self._passed_over = 0

    def propose(self, page: Page, said: Sequence[int], most: int, full: bool = False) -> list[int]:
        """At most `most` tokens that probably follow what has been said so far; `full`: prompts wait for a place."""
        if not self._is_worth_it():
            return []
        draft: list[int] = []
        known = [BEFORE] * max(CONTEXTS) + list(said)
        sure, floor = 1.0, FLOOR_WHEN_FULL if full else FLOOR
        while len(draft) < min(most, MOST):
            token, confidence = self._guess(page, known)
            sure *= confidence
            if sure < floor:
                break
            draft.append(token)
            known.append(token)
        return draft

    def learn(self, reply: Sequence[int], since: int = 0) -> None:
        """From the tokens of a reply after the first `since`: it need not be finished, for many begin alike at once."""
        if len(self._following) > REMEMBERED:
            self._following.clear()
        known = [BEFORE] * max(CONTEXTS) + list(reply)
        for at in range(max(CONTEXTS) + since, len(known)):
            for size in CONTEXTS:
                self._following[tuple(known[at - size : at])][known[at]] += 1

    def note(self, guessed: int, right: int) -> None:
        """How a guess turned out."""
        for number in range(min(guessed, right + 1)):
            self._share = FADE * self._share + (1 - FADE) * (number < right)

    def _is_worth_it(self) -> bool:
        if self._share >= LEAST_SHARE:
            return True
        self._passed_over += 1
        return self._passed_over % PROBE_EVERY == 0

    def _guess(self, page: Page, known: Sequence[int]) -> tuple[int, float]:
        best, confidence = 0, 0.0
        for size in CONTEXTS:
            seen = self._following.get(tuple(known[-size:]))
            if seen:
                best, count = seen.most_common(1)[0]
                confidence = count / (seen.total() + 0.5)
                break
        copied = page.next_after(known)
        if copied is not None and confidence < COPYING:
            return copied, COPYING
        return best, confidence
