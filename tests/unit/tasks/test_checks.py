import pytest

from clickgrad.tasks import judge
from clickgrad.types import (
    AnswerCheck,
    Check,
    Evidence,
    Outcome,
    PageCheck,
    RowChange,
    StateCheck,
    Task,
    UrlCheck,
    Verdict,
)

BOUGHT = RowChange("cart_items", "insert", (("id", 7), ("product_id", 3), ("quantity", 2)), key=7)


def verdict(
    *checks: Check,
    answer: str | None = "done",
    url: str = "http://shop.localhost/",
    page_text: str = "",
    changes: tuple[RowChange, ...] = (),
) -> Verdict:
    task = Task("t.1", "own", "test", ("shop",), "t", "Do it.", "http://shop.localhost/", checks)
    return judge(task, Evidence(answer, url, page_text, changes))


def passes(*checks: Check, **evidence: object) -> bool:
    return verdict(*checks, **evidence).outcome is Outcome.PASSED  # type: ignore[arg-type]


def reason(*checks: Check, **evidence: object) -> str:
    return verdict(*checks, **evidence).results[0].reason  # type: ignore[arg-type]


def test_an_answer_passes_when_it_says_the_same_and_fails_in_plain_words() -> None:
    check = AnswerCheck(("Shipped",))
    assert passes(check, answer="shipped.")
    assert reason(check, answer="Delivered") == "expected the answer to be 'Shipped', got 'Delivered'"


def test_no_answer_never_passes() -> None:
    for check in (
        AnswerCheck(("",)),
        AnswerCheck(("N/A",)),
        AnswerCheck((), "includes"),
        AnswerCheck(("a",), "includes"),
    ):
        assert not passes(check, answer=None)
    assert reason(AnswerCheck(("Shipped",)), answer=None).endswith("got no answer")


def test_an_exact_answer_may_have_several_spellings() -> None:
    assert passes(AnswerCheck(("NYC", "New York")), answer="new york")


def test_an_including_answer_must_hold_every_part() -> None:
    check = AnswerCheck(("Blue Mug", "$12.50"), "includes")
    assert passes(check, answer="The blue mug costs 12.5.")
    assert not passes(check, answer="The blue mug")
    assert not passes(AnswerCheck((), "includes"), answer="anything")


def test_an_address_passes_with_its_site_path_and_parameters() -> None:
    check = UrlCheck("shop", "/category/kitchen", (("sort", "price_asc"), ("brand", "")))
    here = "http://shop.localhost/category/kitchen"
    assert passes(check, url=f"{here}?sort=price_asc")
    assert passes(check, url=f"{here}/?brand=&sort=price_asc&page=2")
    assert not passes(check, url=here)
    assert not passes(check, url=f"{here}?sort=price_desc")
    assert not passes(check, url=f"{here}?sort=price_asc&brand=Acorn")
    assert not passes(check, url="http://shop.localhost/category/bath?sort=price_asc")
    assert not passes(check, url="http://forum.localhost/category/kitchen?sort=price_asc")
    assert not passes(check, url="http://evil.example/shop.localhost/category/kitchen?sort=price_asc")
    assert reason(check, url=f"{here}?sort=rating") == "expected sort='price_asc' in the address, found 'rating'"
    assert not passes(check, url="")


@pytest.mark.parametrize(
    ("expected", "found", "passed"),
    [
        ("/issues", "#/issues", True),
        ("/issues", "#/issues/", True),
        ("/issues", "#/boards", False),
        ("/issues", "", False),
        ("/issues", "#issues", False),
        ("!/issues", "#!/issues", True),
        ("!/issues", "#!/boards", False),
        ("/issues?state=open", "#/issues?page=2&state=open", True),
        ("/issues?state=open", "#/issues?state=closed", False),
        ("/issues?state=open", "#/issues", False),
        ("/issues", "#/issues?state=open", True),  # parameters that nobody asked for, as before the #
        ("", "#/issues", False),
        ("", "#!/issues", False),
        ("", "#/", True),
        ("", "#top", True),
        ("", "", True),
        ("/", "", True),
        ("top", "#top", True),
        ("top", "#bottom", False),
        ("top", "", False),
        ("", "#//issues", False),
    ],
)
def test_a_fragment_is_a_route_or_an_anchor(expected: str, found: str, passed: bool) -> None:
    assert passes(UrlCheck("shop", "/", fragment=expected), url=f"http://shop.localhost/{found}") is passed


def test_the_reason_names_both_routes() -> None:
    check = UrlCheck("shop", "/", fragment="/issues")
    assert reason(check, url="http://shop.localhost/#/boards") == "expected to end on /#/issues, ended on /#/boards"


def test_a_number_in_an_address_may_be_written_in_its_ways() -> None:
    check = UrlCheck("shop", "/", (("max", "20"),))
    assert passes(check, url="http://shop.localhost/?max=20.00")
    assert passes(check, url="http://shop.localhost/?max=%2420")
    assert not passes(check, url="http://shop.localhost/?max=200")


def test_a_page_must_show_every_text() -> None:
    check = PageCheck(("Thank you", "Order 1201"))
    assert passes(check, page_text="thank\n you! Order 1201")
    assert not passes(check, page_text="Thank you")
    assert reason(check, page_text="Thank you") == "expected the page to show 'Order 1201'"
    assert not passes(PageCheck(()), page_text="anything")


def test_an_inserted_row_is_matched_on_the_named_columns_only() -> None:
    check = StateCheck((RowChange("cart_items", "insert", (("product_id", 3), ("quantity", 2))),))
    assert passes(check, changes=(BOUGHT,))
    assert not passes(check)
    wrong = StateCheck((RowChange("cart_items", "insert", (("product_id", 3), ("quantity", 3))),))
    assert "expected insert of cart_items (product_id=3, quantity=3), which did not happen" in reason(
        wrong, changes=(BOUGHT,)
    )


def test_an_extra_change_fails_and_is_named() -> None:
    check = StateCheck((RowChange("cart_items", "insert", (("product_id", 3),)),))
    extra = RowChange("reviews", "insert", (("title", "Hi"),), key=9)
    assert not passes(check, changes=(BOUGHT, extra))
    assert reason(check, changes=(BOUGHT, extra)) == "unexpected insert of reviews 9 (title='Hi')"
    assert not passes(check, changes=(BOUGHT, BOUGHT))


def test_an_update_counts_all_its_columns_and_its_key() -> None:
    check = StateCheck((RowChange("products", "update", (("stock", 4),), key=3),))
    assert passes(check, changes=(RowChange("products", "update", (("stock", 4),), key=3),))
    assert not passes(check, changes=(RowChange("products", "update", (("stock", 4),), key=4),))
    assert not passes(check, changes=(RowChange("products", "update", (("stock", 4), ("name", "x")), key=3),))


def test_a_check_for_no_change_passes_only_without_one() -> None:
    assert passes(StateCheck(()))
    assert not passes(StateCheck(()), changes=(BOUGHT,))


def test_vague_and_precise_expectations_are_paired_the_way_that_fits_all() -> None:
    # Taken greedily, the vague one would use up the only row that fits the precise one.
    vague = RowChange("cart_items", "insert", ())
    precise = RowChange("cart_items", "insert", (("quantity", 2),))
    other = RowChange("cart_items", "insert", (("quantity", 5),), key=8)
    assert passes(StateCheck((vague, precise)), changes=(BOUGHT, other))
    assert not passes(StateCheck((precise, precise)), changes=(BOUGHT, other))


def test_every_check_is_evaluated_and_all_must_pass() -> None:
    result = verdict(AnswerCheck(("a",)), UrlCheck("shop", "/x"), PageCheck(("b",)), StateCheck(()), answer="a")
    assert result.outcome is Outcome.FAILED
    assert [(one.check, one.passed) for one in result.results] == [
        ("answer", True), ("url", False), ("page", False), ("state", True),
    ]  # fmt: skip
    assert all(one.reason for one in result.results)


def test_a_task_without_checks_is_not_judged() -> None:
    assert verdict() == Verdict(Outcome.UNJUDGED)
