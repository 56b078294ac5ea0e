"""From template to tasks: what a template is, and how its instances are dealt to the splits and numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from clickgrad.tasks.moves import Play
from clickgrad.types import TAB_SEPARATOR, Check, Scalar, Split, Task
from clickgrad.worlds.people import DEFAULT_USER


@dataclass(frozen=True, slots=True)
class Draft:
    """One instance of a template, not yet assigned to a split."""

    intent: str
    start_path: str  # on the template's first site
    checks: tuple[Check, ...]
    expert_turns: int
    params: tuple[tuple[str, Scalar], ...]  # what the intent says; the expert reads it
    user: str = DEFAULT_USER


@dataclass(frozen=True, slots=True)
class Template:
    site: str  # where it belongs: a site's name, or "multi"
    name: str
    drafts: Callable[[int], Iterable[Draft]]  # of a universe's seed; no two alike, in an order that may be cut anywhere
    play: Play
    sites: tuple[str, ...] = ()  # of a task on several sites, the first tab's first
    unseen: bool = False  # kept out of training: for `pocket-unseen`

    @property
    def full_name(self) -> str:
        return f"{self.site}.{self.name}"


def deal(templates: Sequence[Template], seed: int, shares: Mapping[Split, int], suite: str) -> Iterator[Task]:
    """`shares` says how many tasks of each split the templates give together, as evenly as can be.

    No draft is used twice, so what differs between drafts differs between splits.

        shares {train: 5, test: 2}, templates A and B:  A train 3, test 1;  B train 2, test 1
    """
    for index, template in enumerate(templates):
        drafts = iter(template.drafts(seed))
        number = 0
        seen: set[tuple[str, str, str]] = set()
        for split, count in shares.items():
            for _ in range(count // len(templates) + (index < count % len(templates))):
                draft = next(drafts, None)
                if draft is None:
                    raise ValueError(f"template {template.full_name} has only {number} instances: it needs more")
                key = (draft.intent, draft.start_path, draft.user)
                if key in seen:
                    raise ValueError(f"template {template.full_name} gives {draft.intent!r} twice")
                seen.add(key)
                yield _task(template, draft, suite, split, number)
                number += 1


def _task(template: Template, draft: Draft, suite: str, split: Split, number: int) -> Task:
    sites = template.sites or (template.site,)
    others = (f"http://{site}.localhost/" for site in sites[1:])
    return Task(
        id=f"{template.full_name}.{number:04d}",
        suite=suite,
        split=split,
        sites=sites,
        template=template.full_name,
        intent=draft.intent,
        start_url=TAB_SEPARATOR.join((f"http://{sites[0]}.localhost{draft.start_path}", *others)),
        checks=draft.checks,
        user=draft.user,
        expert_turns=draft.expert_turns,
        params=draft.params,
    )
