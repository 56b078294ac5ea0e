import json
from collections import Counter
from pathlib import Path

import pytest

from clickgrad.codec import to_plain
from clickgrad.errors import UserError
from clickgrad.tasks import load_tasks
from clickgrad.tasks.pocket import SHARES, TEMPLATES, UNSEEN_EACH


def test_the_splits_have_their_sizes_and_make_up_the_whole() -> None:
    everything = load_tasks("pocket", "all")
    assert len(everything) == len({task.id for task in everything})
    counts = Counter((task.template.partition(".")[0], task.split) for task in everything)
    sites = {template.site for template in TEMPLATES if not template.unseen}
    assert counts == {(site, split): many for site in sites for split, many in SHARES[site].items()}
    assert load_tasks("pocket", "test") == tuple(task for task in everything if task.split == "test")


def test_what_is_kept_out_of_training_is_a_suite_of_its_own() -> None:
    unseen = load_tasks("pocket-unseen", "all")
    trained = {task.template for task in load_tasks("pocket", "all")}
    counts = Counter(task.template for task in unseen)
    assert set(counts.values()) == {UNSEEN_EACH}
    assert not counts.keys() & trained
    assert counts.keys() | trained == {template.full_name for template in TEMPLATES}
    assert {task.split for task in unseen} == {"test"}


def test_no_task_is_in_two_splits() -> None:
    keys = [(task.intent, task.start_url, task.user) for task in load_tasks("pocket", "all")]
    assert len(set(keys)) == len(keys)


def test_ids_and_tasks_are_stable_and_follow_the_seed() -> None:
    assert "shop.find_fact.0000" in {task.id for task in load_tasks("pocket", "train")}
    assert load_tasks("pocket", "all") == load_tasks("pocket", "all", seed=0)
    other = load_tasks("pocket", "all", seed=3)
    assert [task.id for task in other] == [task.id for task in load_tasks("pocket", "all")]
    assert other != load_tasks("pocket", "all")


def test_other_universes_have_enough_for_all_tasks() -> None:
    many = len(load_tasks("pocket", "all"))
    for seed in (1, 2, 7):
        assert len(load_tasks("pocket", "all", seed)) == many


def test_a_tasks_file_gives_back_what_was_written(tmp_path: Path) -> None:
    tasks = load_tasks("pocket", "all")
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(to_plain(tasks)))
    assert load_tasks(str(path), "all") == tasks
    assert load_tasks(str(path), "test") == load_tasks("pocket", "test")


def test_an_unknown_suite_names_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"unknown suite 'poket' \(did you mean 'pocket'\?\): use one of pocket"):
        load_tasks("poket", "all")


def test_a_malformed_file_is_told_in_one_line_with_its_place(tmp_path: Path) -> None:
    task = load_tasks("pocket", "train")[0]
    good = to_plain(task)
    path = tmp_path / "own.json"
    for content, message in [
        ("{", "is not JSON"),
        ("{}", "holds a dict: make it a list of tasks"),
        (json.dumps([good, {"id": "x"}]), "entry 1: Task: field 'checks' is missing"),
        (json.dumps([good | {"colour": 1}]), "entry 0: Task: unknown field 'colour'"),
        (json.dumps([good | {"split": "dev"}]), "entry 0: Task.split: 'dev' is none of 'train', 'test', 'demo'"),
        (json.dumps([good, good]), f"entry 1: the id {task.id!r} occurs twice"),
    ]:
        path.write_text(content)
        with pytest.raises(UserError) as raised:
            load_tasks(str(path), "all")
        assert message in str(raised.value)
        assert str(path) in str(raised.value)
        assert "\n" not in str(raised.value)


def test_a_missing_file_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        load_tasks(str(tmp_path / "none.json"), "all")
