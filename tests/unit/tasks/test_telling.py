"""Verdicts in words: what people read instead of rows."""

from __future__ import annotations

import pytest

from clickgrad.tasks.suites import load_tasks
from clickgrad.tasks.telling import Names, names_of, tell
from clickgrad.types import AnswerCheck, Evidence, RowChange, StateCheck, Task


@pytest.fixture(scope="module")
def names() -> Names:
    return names_of(0)


def task(*changes: RowChange) -> Task:
    return Task("t", "pocket", "test", ("shop",), "t", "", "http://shop.localhost/", (StateCheck(changes),))


def ended(*changes: RowChange, answer: str | None = None) -> Evidence:
    return Evidence(answer, "http://shop.localhost/", "", changes)


def put(product: int) -> RowChange:
    values = (("customer_id", 1), ("product_id", product), ("size", ""), ("quantity", 1))
    return RowChange("cart_items", "insert", values)


def took(item: int) -> RowChange:
    return RowChange("wish_items", "delete", (("id", item),), item)


def test_a_product_moved_instead_of_another_is_named_with_it(names: Names) -> None:
    first, second = (names.row("wish_items", item)["product_id"] for item in (1, 2))
    assert isinstance(first, int)
    assert isinstance(second, int)
    told = tell(task(took(1), put(first)), ended(took(2), put(second)), names)
    wanted, moved = names.name("products", first), names.name("products", second)
    assert told == f"Moved {moved} from the wish list to the cart instead of {wanted}."


def test_nothing_done_is_told_with_what_was_asked_for(names: Names) -> None:
    vote = RowChange("forum_post_votes", "insert", (("post_id", 3), ("user_id", 1), ("value", -1)))
    title = names.name("forum_posts", 3)
    assert tell(task(vote), ended(), names) == f"Changed nothing; asked for: downvoted the post “{title}”."


def test_the_right_thing_in_the_wrong_number_is_told_by_the_number(names: Names) -> None:
    eight = RowChange("cart_items", "insert", (("product_id", 1), ("quantity", 8)))
    assert tell(task(eight), ended(put(1)), names) == (
        f"Put {names.name('products', 1)} into the cart, but with quantity “1” instead of “8”."
    )


def test_what_was_done_besides_is_told(names: Names) -> None:
    assert tell(task(put(1)), ended(put(1), put(2)), names) == (
        f"Put {names.name('products', 2)} into the cart, which was not asked for."
    )


def test_a_passed_episode_needs_no_words_and_a_wrong_answer_needs_both(names: Names) -> None:
    asked = Task("t", "pocket", "test", ("shop",), "t", "", "", (AnswerCheck(("$12.50",)),))
    assert tell(asked, ended(answer="$12.50"), None) == ""
    assert tell(asked, ended(answer="12"), None) == "Answered “12” instead of “$12.50”."
    assert tell(asked, ended(), None) == "Gave no answer; expected “$12.50”."


def test_every_change_that_a_task_asks_for_can_be_told(names: Names) -> None:
    for one in load_tasks("pocket", "all"):
        told = tell(one, ended(), names)
        assert told, one.id
        assert "{" not in told, told
        assert "None" not in told, told
        assert "““" not in told, told
