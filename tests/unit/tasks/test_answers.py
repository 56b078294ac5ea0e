import pytest
from hypothesis import given
from hypothesis import strategies as st

from clickgrad.tasks.answers import mentions, normalise, same


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("Shipped", " shipped. "),
        ("Shipped", '"Shipped"'),
        ("Cash on Delivery", "cash  on\ndelivery!"),
        ("$12.50", "12.50"),
        ("$12.50", "12.5"),
        ("$12.50", "$ 12.50."),
        ("$1,250.00", "1250"),
        ("42", "42.0"),
        ("March 4, 2025", "2025-03-04"),
        ("March 4, 2025", "Mar 4 2025"),
        ("March 4, 2025", "4th March 2025"),
        ("KI-003", "ki-003"),
    ],
)
def test_the_same_answer_in_another_spelling_is_the_same(expected: str, answer: str) -> None:
    assert same(expected, answer)


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("Shipped", "Delivered"),
        ("Shipped", "It is Shipped"),
        ("$12.50", "$12.05"),
        ("$12.50", "$125.0"),
        ("$12.50", "-12.50"),
        ("$12.50", "€12.50"),
        ("$1,250.00", "$1.25"),
        ("42", "4 2"),
        ("March 4, 2025", "April 3, 2025"),
        ("March 4, 2025", "March 4, 2024"),
        ("KI-003", "KI-03"),
        ("0012", "12"),
        ("Shipped", ""),
    ],
)
def test_a_near_miss_is_not_the_same(expected: str, answer: str) -> None:
    assert not same(expected, answer)


def test_an_answer_mentions_whole_words_and_whole_numbers() -> None:
    assert mentions("5", "There are 5.")
    assert mentions("$12.50", "The price is 12.5 dollars")
    assert mentions("March 4, 2025", "It was placed on 4 March 2025, a Tuesday")
    assert not mentions("5", "There are 15")
    assert not mentions("5", "There are 5.5")
    assert not mentions("mug", "two mugs")


@given(st.text(max_size=40))
def test_an_answer_is_the_same_as_itself_whatever_the_space_around_it(text: str) -> None:
    assert same(text, f" {text}\n")


@given(st.text("abc XYZ-19.,$'", max_size=20))
def test_normalising_takes_capitals_away(text: str) -> None:
    assert normalise(text.upper()) == normalise(text.lower())


@given(st.decimals(min_value=0, max_value=10**6, places=2))
def test_money_is_the_same_with_and_without_its_dress(amount: object) -> None:
    assert same(f"${amount:,.2f}", f"{amount:f}")
