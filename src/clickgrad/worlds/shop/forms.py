"""What is wrong with a typed value: every check gives the text to show beside the field, or "" when all is well."""

from __future__ import annotations

import re

from clickgrad.worlds.pages import parse_count

MAX_NAME = 60
MAX_EMAIL = 80
MAX_LINE = 80
MAX_TEXT = 1000
_EMAIL = re.compile(r"[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_PHONE = re.compile(r"[0-9+() -]{5,20}")


def line_error(text: str, what: str, most: int = MAX_LINE) -> str:
    """Of a value that must be there: `what` is named as in "Enter a title."."""
    if not text:
        return f"Enter {what}."
    return length_error(text, most) or ("" if text.isprintable() else "Use letters, digits and signs only.")


def length_error(text: str, most: int = MAX_TEXT) -> str:
    return f"Use at most {most} characters." if len(text) > most else ""


def email_error(text: str) -> str:
    return "" if len(text) <= MAX_EMAIL and _EMAIL.fullmatch(text) else "Enter an email such as emma@example.com."


def phone_error(text: str) -> str:
    return "" if not text or _PHONE.fullmatch(text) else "Enter a phone number such as 555-0100."


def parse_quantity(text: str, stock: int) -> int | str:
    """How many to buy, or what is wrong with the number."""
    if stock <= 0:
        return "No more of this product are left."
    quantity = parse_count(text)
    if quantity is None or not 1 <= quantity <= stock:
        return f"Enter a number from 1 to {stock}."
    return quantity


def wrong(**errors: str) -> dict[str, str]:
    """Only the fields that have something wrong with them."""
    return {field: text for field, text in errors.items() if text}
