"""From template to tasks: how many instances a template gives, how they are dealt to the splits and numbered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from clickgrad.types import Check, Scalar, Split, Task

SPLITS: tuple[tuple[Split, int], ...] = (("train", 12), ("test", 12), ("demo", 40))
DRAFTS = sum(count for _, count in SPLITS)  # of every template


@dataclass(frozen=True, slots=True)
class Draft:
    """One instance of a template, not yet assigned to a split."""

    intent: str
    start_path: str
    checks: tuple[Check, ...]
    user: str
    expert_turns: int
    params: tuple[tuple[str, Scalar], ...]


def deal(site: str, template: str, drafts: Iterator[Draft]) -> Iterator[Task]:
    """Train first, then test, then demo. No draft is used twice, so what is disjoint among drafts is among splits."""
    number = 0
    for split, count in SPLITS:
        for draft in islice(drafts, count):
            yield Task(
                id=f"{site}.{template}.{number:04d}",
                suite="pocket",
                split=split,
                sites=(site,),
                template=f"{site}.{template}",
                intent=draft.intent,
                start_url=f"http://{site}.localhost{draft.start_path}",
                checks=draft.checks,
                user=draft.user,
                expert_turns=draft.expert_turns,
                params=draft.params,
            )
            number += 1
