"""The suite `pocket`: the sites' templates, dealt to the splits in the proportions of WebArena-Lite."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from clickgrad.tasks.admin import ADMIN_TEMPLATES
from clickgrad.tasks.code import CODE_TEMPLATES
from clickgrad.tasks.forum import FORUM_TEMPLATES
from clickgrad.tasks.map import MAP_TEMPLATES
from clickgrad.tasks.multi import MULTI_TEMPLATES
from clickgrad.tasks.shop import SHOP_TEMPLATES
from clickgrad.tasks.templates import Template, deal, draw, splits_of
from clickgrad.types import Split, Task

TEMPLATES: tuple[Template, ...] = (
    *FORUM_TEMPLATES,
    *CODE_TEMPLATES,
    *SHOP_TEMPLATES,
    *ADMIN_TEMPLATES,
    *MAP_TEMPLATES,
    *MULTI_TEMPLATES,
)

TRAINED = tuple(template for template in TEMPLATES if not template.unseen)

# Test as in the paper (165), train (647) and demonstrations (1,186) in the same proportions.
SHARES: dict[str, dict[Split, int]] = {
    "forum": {"train": 74, "test": 19, "demo": 137},
    "code": {"train": 118, "test": 30, "demo": 216},
    "shop": {"train": 177, "test": 45, "demo": 323},
    "admin": {"train": 137, "test": 35, "demo": 252},
    "map": {"train": 102, "test": 26, "demo": 187},
    "multi": {"train": 39, "test": 10, "demo": 71},
}
UNSEEN_EACH = 6  # tasks of every template kept out of training


@cache
def pocket_tasks(seed: int) -> tuple[Task, ...]:
    tasks: list[Task] = []
    for site, shares in SHARES.items():
        tasks.extend(deal(_trained_on(site), seed, shares, "pocket"))
    return tuple(tasks)


@dataclass(frozen=True, slots=True)
class Mix:
    """Some templates of the suite, with numbers of their own: so many tasks of every template in each split."""

    templates: frozenset[str]  # full names
    train: int
    test: int
    demo: int
    max_turns: int = 0  # of the expert; 0 is any number


@cache
def mixed_tasks(seed: int, mix: Mix) -> tuple[Task, ...]:
    """Split by split, one of every template in turn: the first so many of a split are the same mix in small."""
    each: dict[Split, int] = {"train": mix.train, "test": mix.test, "demo": mix.demo}
    by_template = [
        draw(template, seed, "pocket", _own_splits(template), each, mix.max_turns)
        for template in TRAINED
        if template.full_name in mix.templates
    ]
    of_split = ([[task for task in tasks if task.split == split] for tasks in by_template] for split in each)
    return tuple(task for columns in of_split for turn in zip(*columns, strict=True) for task in turn)


def _trained_on(site: str) -> list[Template]:
    return [template for template in TRAINED if template.site == site]


def _own_splits(template: Template) -> list[Split]:
    among = _trained_on(template.site)
    return splits_of(SHARES[template.site], among.index(template), len(among))


@cache
def unseen_tasks(seed: int) -> tuple[Task, ...]:
    templates = [template for template in TEMPLATES if template.unseen]
    return tuple(deal(templates, seed, {"test": UNSEEN_EACH * len(templates)}, "pocket-unseen"))
