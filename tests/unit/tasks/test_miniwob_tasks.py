from collections import Counter
from dataclasses import replace

import pytest
from observed import observed

from clickgrad.browser.snapshot import Control
from clickgrad.tasks import Expert, ExpertLost, judge, load_tasks
from clickgrad.tasks.miniwob import SCRIPTS
from clickgrad.tasks.near_misses import near_misses
from clickgrad.types import Action, Click, Evidence, Hover, Observation, Outcome, ScrollDown, Task, Type

TASKS = {task.template: task for task in load_tasks("miniwob", "test")}
EMPTY = Observation("http://miniwob.localhost/", "Elsewhere", (), ())


def task_of(page: str, intent: str) -> Task:
    return replace(TASKS[page], intent=intent)


def page_of(*lines: str) -> Observation:
    """A page by its outline; `button Share [3]` and `textbox [1] = text` are elements."""
    items = list[str | Control]()
    for line in lines:
        words, bracket, rest = line.partition(" [")
        if bracket:
            role, _, name = words.partition(" ")
            number, _, value = rest.partition("]")
            items.append(Control(int(number), role, name, value.removeprefix(" = ")))
        else:
            items.append(line)
    return observed("A page", *items, url="http://miniwob.localhost/")


def moves(task: Task, *pages: Observation) -> list[Action]:
    expert = Expert(task)
    return [expert.move(page).action for page in pages]


def test_every_page_has_its_seeds_and_no_seed_is_in_two_splits() -> None:
    counts = Counter((task.template, task.split) for task in load_tasks("miniwob", "all"))
    assert len(TASKS) == 130
    for page in TASKS:
        demos = 20 if page in SCRIPTS else 0
        assert [counts[page, split] for split in ("train", "test", "demo")] == [20, 5, demos]
    ids = [task.id for task in load_tasks("miniwob", "all")]
    assert len(set(ids)) == len(ids)
    assert "miniwob.click-button.0003" in ids


def test_another_seed_gives_other_seeds_of_the_same_pages() -> None:
    ids, others = ({task.id for task in load_tasks("miniwob", "all", seed)} for seed in (0, 1))
    assert len(ids) == len(others)
    assert not ids & others


def test_at_least_25_pages_have_a_script() -> None:
    assert SCRIPTS.keys() <= TASKS.keys()
    assert len(SCRIPTS) >= 25


@pytest.mark.parametrize(("reward", "outcome"), [(1.0, "passed"), (0.6, "failed"), (-1.0, "failed"), (None, "failed")])
def test_only_the_pages_full_reward_passes(reward: float | None, outcome: str) -> None:
    verdict = judge(TASKS["click-test"], Evidence(None, "http://miniwob.localhost/", "", (), reward))
    assert verdict.outcome.value == outcome
    assert "reward" in verdict.results[0].reason


def test_near_misses_of_a_reward_fail() -> None:
    task = TASKS["click-test"]
    passed = Evidence("", "http://miniwob.localhost/", "", (), 1.0)
    wrong = [evidence for _, evidence in near_misses(task, passed)]
    assert {evidence.page_reward for evidence in wrong} == {None, 0.0, -1.0, 0.99}
    assert all(judge(task, evidence).outcome is Outcome.FAILED for evidence in wrong)


@pytest.mark.parametrize("page", sorted(SCRIPTS))
def test_a_script_on_a_strange_page_is_lost(page: str) -> None:
    with pytest.raises(ExpertLost):
        Expert(task_of(page, "Something else.")).move(EMPTY)


def test_all_boxes_that_are_named_are_ticked() -> None:
    page = page_of("checkbox AU [0] = off", "checkbox HF2 [1] = off", "checkbox K [2] = off", "button Submit [3]")
    task = task_of("click-checkboxes", "Select HF2, AU and click Submit.")
    assert moves(task, page, page, page) == [Click(1), Click(0), Click(3)]


@pytest.mark.parametrize(("problem", "x"), [("0 + x = 8", "8"), ("x - 5 = 7", "12"), ("3 - x = 10", "-7")])
def test_an_equation_is_solved(problem: str, x: str) -> None:
    page = page_of("Solve for x.", problem, "x =", "textbox [0]", "button Submit [1]")
    assert moves(task_of("simple-algebra", "Solve for x."), page, page) == [Type(0, x), Click(1)]


def test_a_time_is_typed_as_its_field_wants_it() -> None:
    page = page_of("textbox [0] (HH:MM)", "button Submit [1]")
    for told, typed in [("9:37 PM", "21:37"), ("12:05 AM", "00:05"), ("12:10 PM", "12:10")]:
        assert moves(task_of("enter-time", f"Enter {told} as the time and press submit."), page) == [Type(0, typed)]


def test_the_icon_of_the_right_email_is_clicked_even_if_it_is_further_down() -> None:
    top = page_of("Primary", "button Cora, In id., At. [0]", "button trash [1]", "button star [2]")
    below = page_of("button Bevvy, Non., Sit. [0]", "button trash [1]", "button star [2]", "button Audrey, A., B. [3]",
                    "button trash [4]", "button star [5]")  # fmt: skip
    task = task_of("email-inbox-delete", "Find the email by Audrey and click the trash icon to delete it.")
    assert moves(task, top, below) == [ScrollDown(), Click(4)]


def test_posts_by_others_are_left_alone() -> None:
    intent = 'Click the "Like" button on all posts by @annis and then click Submit.'
    page = page_of(intent, "Ann @annis", "One.", "button reply [0]", "button like [1]", "Bo @bo", "Two.",
                   "button reply [2]", "button like [3]", "Ann @annis", "Three.", "button reply [4]", "button like [5]",
                   "button Submit [6]")  # fmt: skip
    assert moves(task_of("social-media-all", intent), page, page, page) == [Click(1), Click(5), Click(6)]


def test_a_post_whose_name_is_above_the_edge_belongs_to_whom_it_did_before() -> None:
    intent = 'For the user @ann, click on the "Like" button.'
    top = page_of(intent, "Bo @bo 1h ago", "Two.", "button like [0]", "Ann @ann 2h ago", "One.", "Cy @cy 3h ago")
    below = page_of(intent, "button like [0]", "Cy @cy 3h ago", "Three.", "button like [1]", "Ann @ann 9h ago")
    task = task_of("social-media", intent)
    assert moves(task, top, below, below) == [ScrollDown(), Hover(0), Click(0)]


def test_the_button_is_no_item_of_the_list_even_if_it_begins_alike() -> None:
    empty = page_of("textbox Tags [0]", "button Submit [1]")
    full = page_of("textbox Tags [0] = Su", "button Submit [1]", "button Sudan [2]", "button Suriname [3]")
    task = task_of("use-autocomplete", 'Enter an item that starts with "Su".')
    assert moves(task, empty, full, full) == [Type(0, "Su"), Click(2), Click(1)]
