"""Which tasks a command works on. `tasks.each` draws other numbers of instances and moves none between splits."""

from __future__ import annotations

from collections import Counter

import pytest

from clickgrad.backends.tasks import chosen_tasks
from clickgrad.config import Config, load_config
from clickgrad.errors import UserError
from clickgrad.recipes.train import for_the_start
from clickgrad.tasks.pocket import Mix, mixed_tasks
from clickgrad.tasks.suites import load_tasks
from clickgrad.tasks.templates import BEYOND, splits_of
from clickgrad.types import Task

TWO = 'tasks.templates=["shop.add_to_cart", "shop.find_fact"]'
FEW = ("tasks.each.train=3", "tasks.each.test=4", "tasks.each.demo=5")
MORE = ("tasks.each.train=20", "tasks.each.test=24", "tasks.each.demo=30")


def chosen(*settings: str) -> tuple[Task, ...]:
    return chosen_tasks(load_config(None, settings, "evaluate"), "all")


# --- how many -------------------------------------------------------------------------------------------------------


def test_every_template_gives_its_number_in_every_split() -> None:
    counts = Counter((task.template, task.split) for task in chosen(TWO, *MORE))
    numbers = {"train": 20, "test": 24, "demo": 30}
    names = ("shop.add_to_cart", "shop.find_fact")
    assert counts == {(name, split): many for name in names for split, many in numbers.items()}


def test_what_takes_too_many_turns_is_replaced_and_not_missing() -> None:
    longer, short = chosen(TWO, *FEW), chosen(TWO, *FEW, "tasks.max_expert_turns=2")
    assert max(task.expert_turns or 0 for task in longer) > 2
    assert {task.expert_turns for task in short} == {2}
    assert len(short) == len(longer) == 2 * (3 + 4 + 5)


def test_the_first_tasks_of_a_split_are_the_same_mix_in_small() -> None:
    config = load_config(None, [TWO, *MORE], "evaluate")
    for split in ("train", "test", "demo"):
        first = Counter(task.template for task in chosen_tasks(config, split)[:6])
        assert first == {"shop.add_to_cart": 3, "shop.find_fact": 3}


def test_sites_choose_among_the_templates() -> None:
    tasks = chosen('tasks.sites=["map"]', 'tasks.templates=["shop.find_fact", "map.place_fact"]', *FEW)
    assert {task.template for task in tasks} == {"map.place_fact"}


# --- which ----------------------------------------------------------------------------------------------------------


def test_without_numbers_the_tasks_are_those_of_the_suite() -> None:
    assert chosen() == load_tasks("pocket", "all")
    assert chosen(TWO) == tuple(t for t in load_tasks("pocket", "all") if t.template in TWO)


def test_an_instance_has_one_id_and_one_split_whatever_is_asked_for() -> None:
    known = {task.id: task for task in load_tasks("pocket", "all")}
    for settings in (FEW, MORE, (*MORE, "tasks.max_expert_turns=3")):
        drawn = {task.id: task for task in chosen(TWO, *settings)}
        shared = known.keys() & drawn.keys()
        assert len(shared) >= 12
        assert {id_: known[id_] for id_ in shared} == {id_: drawn[id_] for id_ in shared}
        known |= drawn
    assert len({(task.intent, task.start_url, task.user) for task in known.values()}) == len(known)


def test_what_the_splits_speak_of_differs() -> None:
    products: dict[str, set[object]] = {}
    for task in chosen('tasks.templates=["shop.find_fact"]', *MORE):
        products.setdefault(task.split, set()).add(task.param("product"))
    assert not products["test"] & (products["train"] | products["demo"])


def test_every_split_meets_every_kind_of_a_template() -> None:
    facts: dict[str, set[object]] = {}
    for task in chosen('tasks.templates=["shop.find_fact"]', *MORE):
        facts.setdefault(task.split, set()).add((task.param("fact"), task.expert_turns))
    assert facts["test"] == facts["train"] == facts["demo"]
    assert set(BEYOND) == {"train", "test", "demo"}


def test_the_same_numbers_draw_the_same_tasks_and_another_universe_others() -> None:
    mix = Mix(frozenset({"shop.find_fact"}), 4, 4, 4, 3)
    assert mixed_tasks.__wrapped__(0, mix) == mixed_tasks(0, mix)
    here, there = mixed_tasks(0, mix), mixed_tasks(1, mix)
    assert not {task.intent for task in here} & {task.intent for task in there}


def test_splits_are_shared_as_evenly_as_can_be() -> None:
    shares = {"train": 5, "test": 2}
    assert splits_of(shares, 0, 2) == ["train"] * 3 + ["test"]  # type: ignore[arg-type]
    assert splits_of(shares, 1, 2) == ["train"] * 2 + ["test"]  # type: ignore[arg-type]


# --- mistakes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ('tasks.templates=["code.star_or_fork"]', *FEW, "tasks.each.test=500"),
            r"tasks\.each\.test=500: the template code\.star_or_fork has only \d+ test tasks; ask for fewer",
        ),
        (
            ('tasks.templates=["admin.update_product"]', *FEW, "tasks.max_expert_turns=2"),
            "admin.update_product has only 0 train tasks that take an expert at most 2 turns",
        ),
        (("tasks.each.test=5",), "tasks.each: give numbers for train, test and demo, or for none"),
        (("tasks.suite=miniwob", *FEW), r"tasks\.each: only pocket .* not miniwob; set tasks\.each=\{\}"),
        (('tasks.templates=["shop.fly"]', *FEW), "tasks.templates: no 'shop.fly' in pocket"),
        (('tasks.templates=["shop.store_info"]', *FEW), "tasks.templates: no 'shop.store_info' in pocket"),
        (('tasks.sites=["mars"]', *FEW), "tasks.sites: no 'mars' in pocket"),
        (('tasks.sites=["map"]', TWO, *FEW), "no template of pocket fits tasks.sites and templates"),
    ],
)
def test_a_number_that_cannot_be_had_is_told_in_one_line(settings: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message) as raised:
        chosen(*settings)
    assert "\n" not in str(raised.value)


# --- the default run ------------------------------------------------------------------------------------------------


def test_the_quick_preset_has_its_numbers_on_several_sites_in_the_universes_of_test_and_validation() -> None:
    assert load_config("quick", [], "train").tasks.seed == 2
    for seed in (1, 2):
        config = load_config("quick", [f"tasks.seed={seed}"], "train")
        tasks = chosen_tasks(config, "all")
        assert Counter(task.split for task in tasks) == {"train": 130, "test": 105, "demo": 20}
        assert len({site for task in tasks for site in task.sites}) >= 3
        assert len({task.template for task in tasks}) == len(config.tasks.templates) <= 8


@pytest.mark.parametrize(("start", "limit", "expected"), [(0, 0, 0), (28, 0, 28), (28, 4, 4), (0, 4, 4), (3, 4, 3)])
def test_the_bare_model_is_tried_on_fewer_tasks_never_on_more(start: int, limit: int, expected: int) -> None:
    config = load_config(None, [f"train.start_limit={start}", f"evaluate.limit={limit}"], "train")
    changed = for_the_start(config)
    assert changed.evaluate.limit == expected
    assert Config.model_validate(changed.model_dump() | {"evaluate": config.evaluate.model_dump()}) == config
