from __future__ import annotations

from dataclasses import replace

from clickgrad.tasks import judge
from clickgrad.tasks.near_misses import loose_columns, near_misses
from clickgrad.types import AnswerCheck, Evidence, Outcome, RowChange, StateCheck, Task, UrlCheck

VOTE = RowChange("votes", "insert", (("id", 9), ("post_id", 3), ("value", 1), ("user_id", 1)))
WANTED = RowChange("votes", "insert", (("post_id", 3), ("value", 1)))
URL = "http://shop.localhost/category/toys?sort=price_asc&brand=Acorn"


def make_task(*checks: AnswerCheck | UrlCheck | StateCheck) -> Task:
    return Task("t", "s", "test", ("shop",), "shop.t", "Do it.", "http://shop.localhost/", checks)


def test_every_near_miss_of_a_sound_task_fails_and_the_end_itself_passes() -> None:
    task = make_task(
        AnswerCheck(("15 min", "15 minutes")),
        UrlCheck("shop", "/category/toys", (("sort", "price_asc"), ("max", ""))),
        StateCheck((WANTED,)),
    )
    end = Evidence("15 minutes", URL, "", (VOTE,))
    assert judge(task, end).outcome is Outcome.PASSED
    misses = dict(near_misses(task, end))
    assert {judge(task, evidence).outcome for evidence in misses.values()} == {Outcome.FAILED}
    assert {"answer None", "answer '16 min'", "no insert of votes", "insert of votes twice"} <= misses.keys()
    assert {"another votes.value", "something else changed too"} <= misses.keys()


def test_a_check_that_is_too_lax_lets_a_near_miss_pass() -> None:
    """An agent that knows nothing says "done", and that is all this task asks for."""
    lax = make_task(AnswerCheck(("Done",)))
    passed = [
        what
        for what, evidence in near_misses(lax, Evidence("Done", URL, "", ()))
        if judge(lax, evidence).outcome is Outcome.PASSED
    ]
    assert passed == ["answer 'done'"]


def test_columns_that_no_check_looks_at_are_named() -> None:
    lax = make_task(StateCheck((RowChange("votes", "insert", (("value", 1),)),)))
    assert loose_columns(lax, Evidence("", URL, "", (VOTE,))) == {"votes.post_id", "votes.user_id"}
    strict = make_task(StateCheck((replace(VOTE, key=None),)))
    assert loose_columns(strict, Evidence("", URL, "", (VOTE,))) == set()


def test_another_route_of_a_single_page_app_is_a_near_miss() -> None:
    task = make_task(UrlCheck("shop", "/", fragment="/issues"))
    misses = [evidence.url for _, evidence in near_misses(task, Evidence("", "http://shop.localhost/#/issues", "", ()))]
    assert {"http://shop.localhost/#/somewhere/else", "http://shop.localhost/"} <= set(misses)
    assert {judge(task, Evidence("", url, "", ())).outcome for url in misses} == {Outcome.FAILED}


def test_an_answer_of_several_parts_needs_them_all() -> None:
    task = make_task(AnswerCheck(("red", "blue"), "includes"))
    misses = [evidence.answer for _, evidence in near_misses(task, Evidence("red, blue", URL, "", ()))]
    assert "blue" in misses
    assert "red" in misses
