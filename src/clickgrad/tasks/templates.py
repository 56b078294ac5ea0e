"""From template to tasks: what a template is, and how its instances are dealt to the splits and numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, cycle

from clickgrad.errors import UserError
from clickgrad.tasks.moves import MakeScript
from clickgrad.types import TAB_SEPARATOR, Check, Scalar, Split, Task
from clickgrad.worlds.people import DEFAULT_USER

# Of instances beyond those that a suite deals, over and over. Seven of them: the kinds of a template come in turns of
# other lengths, so every split meets every kind.
BEYOND: tuple[Split, ...] = ("train", "test", "demo", "demo", "train", "test", "demo")


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
    script: MakeScript
    sites: tuple[str, ...] = ()  # of a task on several sites, the first tab's first
    unseen: bool = False  # kept out of training: for `pocket-unseen`

    @property
    def full_name(self) -> str:
        return f"{self.site}.{self.name}"

    @property
    def on(self) -> tuple[str, ...]:
        """The sites of its tasks."""
        return self.sites or (self.site,)


def splits_of(shares: Mapping[Split, int], place: int, among: int) -> list[Split]:
    """The splits of a template's first drafts, in their order, when so many templates share as evenly as can be.

    shares {train: 5, test: 2}, among 2:  place 0 train 3, test 1;  place 1 train 2, test 1
    """
    return [split for split, count in shares.items() for _ in range(count // among + (place < count % among))]


def deal(templates: Sequence[Template], seed: int, shares: Mapping[Split, int], suite: str) -> Iterator[Task]:
    """`shares` says how many tasks of each split the templates give together.

    No draft is used twice, so what differs between drafts differs between splits.
    """
    for place, template in enumerate(templates):
        splits = splits_of(shares, place, len(templates))
        tasks = list(_instances(template, seed, suite, splits))
        if len(tasks) < len(splits):
            raise ValueError(f"template {template.full_name} has only {len(tasks)} instances: it needs {len(splits)}")
        yield from tasks


def draw(
    template: Template, seed: int, suite: str, own: Sequence[Split], each: Mapping[Split, int], max_turns: int
) -> list[Task]:
    """So many tasks of each split as `each` says: the first that an expert does in `max_turns`; 0 is any number.

    An instance has one split and one id, whatever is asked for: the first ones have those that the suite deals them,
    `own`; the splits of the others follow from their place.
    """
    left, drawn = dict(each), list[Task]()
    for task in _instances(template, seed, suite, chain(own, cycle(BEYOND))):
        if left[task.split] and (not max_turns or (task.expert_turns or 0) <= max_turns):
            drawn.append(task)
            left[task.split] -= 1
        if not any(left.values()):
            return drawn
    split, missing = next((split, count) for split, count in left.items() if count)
    within = f" that take an expert at most {max_turns} turns" if max_turns else ""
    raise UserError(
        f"tasks.each.{split}={each[split]}: the template {template.full_name} has only {each[split] - missing} "
        f"{split} tasks{within}; ask for fewer, or name other templates in tasks.templates"
    )


def _instances(template: Template, seed: int, suite: str, splits: Iterable[Split]) -> Iterator[Task]:
    """A task for each split, as long as there are drafts, numbered as they come; what came before is passed over."""
    seen: set[tuple[str, str, str]] = set()
    for number, (split, draft) in enumerate(zip(splits, template.drafts(seed), strict=False)):
        key = (draft.intent, draft.start_path, draft.user)
        if key not in seen:
            seen.add(key)
            yield _task(template, draft, suite, split, number)


def _task(template: Template, draft: Draft, suite: str, split: Split, number: int) -> Task:
    sites = template.on
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
