from __future__ import annotations

import pytest

from clickgrad.errors import BrowserError, UserError, boundary


def test_a_foreign_exception_gets_a_name_and_a_place() -> None:
    with (
        pytest.raises(BrowserError, match=r"^opening the page: ValueError: first line$"),
        boundary(BrowserError, "opening the page"),
    ):
        raise ValueError("first line\nsecond line")


def test_an_exception_without_words_is_named_by_its_kind() -> None:
    with pytest.raises(BrowserError, match=r"^looking: TimeoutError$"), boundary(BrowserError, "looking"):
        raise TimeoutError


def test_our_own_errors_pass_as_they_are() -> None:
    with pytest.raises(UserError, match=r"^yours$"), boundary(BrowserError, "looking"):
        raise UserError("yours")


def test_an_interrupt_is_nobodys_error() -> None:
    with pytest.raises(KeyboardInterrupt), boundary(BrowserError, "looking"):
        raise KeyboardInterrupt
