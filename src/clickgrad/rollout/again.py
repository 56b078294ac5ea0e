"""The actions of an episode performed again in a fresh world, without a policy. Knows turns and sessions, no files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from clickgrad.browser.session import Session
from clickgrad.errors import InfraError, PageError
from clickgrad.rollout.reading import with_notice_of
from clickgrad.rollout.venue import Venue
from clickgrad.types import Exit, Observation, Task, Turn, Unparsable, Wait

SOUND_S = 2.0  # that a sound page is seen within: on a machine slower than that any page may hang
NOT_AGAIN = "cannot be performed again"


class Diverged(Exception):
    """A page came out unlike the stored one."""


def reaches_page(turn: Turn) -> bool:
    """Whether the turn's action was the browser's to perform."""
    return not turn.paged and not isinstance(turn.action, Exit | Unparsable)


def require_same(was: Turn, page: Observation, world: str, number: int) -> None:
    """A given turn is performed on the page it was chosen from, and on no other. Else our machinery failed: a crash."""
    if replace(page, first=was.observation.first) != was.observation:
        raise InfraError(f"turn {number} {NOT_AGAIN}: {_first_difference(was.observation, page)}")
    if was.world and world and was.world != world:
        raise InfraError(f"turn {number} {NOT_AGAIN}: the world is in another state")


async def play_again(turns: Sequence[Turn], session: Session) -> AsyncIterator[int]:
    """The stored actions, each on the page it was chosen from; yields how many turns are done, after each of them."""
    before: Turn | None = None
    for number, turn in enumerate(turns, 1):
        await observe_again(turn, before, number, session)
        await act(turn, session)
        before = turn
        yield number


async def observe_again(turn: Turn, before: Turn | None, number: int, session: Session) -> None:
    """Raises Diverged unless the page is the one that turn `number` was played on, after the turn `before`."""
    page = await session.observe()
    page = with_notice_of(before.action, page, before.paged, before.read_as) if before else page
    page = replace(page, first=turn.observation.first)  # the agent's own place in it, not the browser's doing
    if page != turn.observation:
        raise Diverged(f"turn {number}: {_first_difference(turn.observation, page)}")


async def breaks_again(task: Task, turns: Sequence[Turn], venue: Venue) -> bool:
    """Whether the last action that reached the page makes it unusable in a fresh world, and none before it did.

    Pages are not compared with the stored ones: a clock on them must not hide what the actions do.
    """
    *earlier, last = [turn for turn in turns if reaches_page(turn)]
    broken = False
    try:
        async with venue.open(task) as visit:
            for turn in earlier:
                await visit.session.observe()
                await act(turn, visit.session)
            async with asyncio.timeout(SOUND_S):
                await visit.session.observe()
            try:
                await act(last, visit.session)
                await visit.session.observe()
                await visit.session.perform(Wait())  # the policy took its time, too: what comes late has to come now
                await visit.session.observe()
                await visit.session.page_text()
            except PageError:
                broken = True
    except (InfraError, TimeoutError):
        pass  # ours, or a page that breaks before: it proves nothing. Failing to clean up takes nothing back
    return broken


async def act(turn: Turn, session: Session) -> None:
    if not turn.paged and not isinstance(turn.action, Exit | Unparsable):
        await session.perform(turn.action)


def _first_difference(was: Observation, now: Observation) -> str:
    for name in ("url", "title", "tabs", "tab", "notice"):
        if getattr(was, name) != getattr(now, name):
            return f"{name} was {getattr(was, name)!r}, is {getattr(now, name)!r}"
    for number, (old, new) in enumerate(zip(was.lines, now.lines, strict=False), 1):
        if old != new:
            return f"line {number} was {old!r}, is {new!r}"
    if len(was.lines) != len(now.lines):
        return f"the page had {len(was.lines)} lines, has {len(now.lines)}"
    return "the elements differ"
