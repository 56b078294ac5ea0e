"""The suite `pocket`: the sites' templates, dealt to the splits in the proportions of WebArena-Lite."""

from __future__ import annotations

from functools import cache

from clickgrad.tasks.admin import ADMIN_TEMPLATES
from clickgrad.tasks.code import CODE_TEMPLATES
from clickgrad.tasks.forum import FORUM_TEMPLATES
from clickgrad.tasks.map import MAP_TEMPLATES
from clickgrad.tasks.multi import MULTI_TEMPLATES
from clickgrad.tasks.shop import SHOP_TEMPLATES
from clickgrad.tasks.templates import Template, deal
from clickgrad.types import Split, Task

TEMPLATES: tuple[Template, ...] = (
    *FORUM_TEMPLATES,
    *CODE_TEMPLATES,
    *SHOP_TEMPLATES,
    *ADMIN_TEMPLATES,
    *MAP_TEMPLATES,
    *MULTI_TEMPLATES,
)

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
        templates = [template for template in TEMPLATES if template.site == site and not template.unseen]
        tasks.extend(deal(templates, seed, shares, "pocket"))
    return tuple(tasks)


@cache
def unseen_tasks(seed: int) -> tuple[Task, ...]:
    templates = [template for template in TEMPLATES if template.unseen]
    return tuple(deal(templates, seed, {"test": UNSEEN_EACH * len(templates)}, "pocket-unseen"))
