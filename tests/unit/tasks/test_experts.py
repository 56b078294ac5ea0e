from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from clickgrad.errors import UserError
from clickgrad.tasks import Expert, ExpertLost, judge, load_tasks
from clickgrad.types import Click, Element, Exit, Observation, Outcome, Task

TASKS = load_tasks("pocket", "all")
OpenSession = Callable[[Task], Any]
EMPTY = Observation("http://shop.localhost/", "Elsewhere", (), ())


@pytest.mark.parametrize("template", sorted({task.template for task in TASKS}))
def test_every_task_is_solved_by_its_expert_in_the_turns_it_promises(open_session: OpenSession, template: str) -> None:
    for task in (task for task in TASKS if task.template == template):
        session = open_session(task)
        expert = Expert(task)
        moves = [expert.move(session.observe())]
        while not isinstance(moves[-1].action, Exit) and len(moves) < 10:
            session.perform(moves[-1].action)
            moves.append(expert.move(session.observe()))
        last = moves[-1].action
        assert isinstance(last, Exit)
        verdict = judge(task, session.evidence(last.message))
        assert verdict.outcome is Outcome.PASSED, (task.id, verdict)
        assert len(moves) == task.expert_turns, task.id
        assert all(1 <= len(move.remark.split()) <= 12 for move in moves)
        session.close()


def test_an_expert_reads_its_answer_from_the_page() -> None:
    task = next(task for task in TASKS if task.template == "shop.find_fact" and task.param("fact") == "brand")
    expert = Expert(task)
    name = str(task.param("product"))
    listed = Observation("u", "List", (f"link {name} [4]", "$1.00, 5 stars"), (Element(4, "link", name),))
    assert expert.move(listed).action == Click(4)
    shown = Observation("u", name, (name, "Brand: Imaginary", "Color: Blue"), ())
    move = expert.move(shown)
    assert move.action == Exit("Imaginary")
    assert move.remark == "Note: Brand: Imaginary"


def test_an_expert_reads_the_html_rendering_too() -> None:
    task = next(task for task in TASKS if task.template == "shop.order_history" and task.param("fact") == "status")
    name = f"Order {task.param('order')}"
    lines = (f'<a id="3"> {name} </a>', "<p> March 4, 2025, Shipped, $12.50 </p>")
    page = Observation("u", "My Orders", lines, (Element(3, "link", name),))
    assert Expert(task).move(page).action == Exit("Shipped")


@pytest.mark.parametrize("template", sorted({task.template for task in TASKS}))
def test_an_expert_on_a_strange_page_says_what_it_misses(template: str) -> None:
    task = next(task for task in TASKS if task.template == template)
    with pytest.raises(ExpertLost, match=r"no \w+ .* on http://shop\.localhost/"):
        Expert(task).move(EMPTY)


def test_a_finished_expert_has_no_more_moves() -> None:
    task = next(task for task in TASKS if task.template == "shop.order_history" and task.param("fact") == "status")
    name = f"Order {task.param('order')}"
    lines = (f"link {name} [0]", "March 4, 2025, Shipped, $12.50")
    page = Observation("u", "My Orders", lines, (Element(0, "link", name),))
    expert = Expert(task)
    expert.move(page)
    with pytest.raises(ExpertLost, match="already finished"):
        expert.move(page)


def test_a_task_of_ones_own_has_no_expert() -> None:
    with pytest.raises(UserError, match="no scripted expert for the template 'mine'"):
        Expert(replace(TASKS[0], template="mine"))
