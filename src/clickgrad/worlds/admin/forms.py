"""What staff type into forms, read strictly: a value, or what is wrong with it, told beside the field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import TypeVar

from clickgrad.worlds.pages import parse_count

MAX_LINE = 80
MAX_TEXT = 2000
MAX_PRICE_CENTS = 100_000_00
MAX_STOCK = 100_000
DATE_ERROR = "Enter a date such as 2025-03-04."
PRICE_ERROR = "Enter a price such as 25 or 25.50."

Value = TypeVar("Value")


@dataclass(slots=True)
class Form:
    """The fields as typed and the errors found so far. A value that is wrong is replaced by a stand-in."""

    typed: Mapping[str, str]
    errors: dict[str, str] = field(default_factory=dict)

    def line(self, name: str, missing: str, limit: int = MAX_LINE) -> str:
        """One line of text that must not be empty."""
        value = self.text(name, missing, limit)
        if not value.isprintable():
            self.errors[name] = "Use one line of plain text."
        return value

    def text(self, name: str, missing: str = "", limit: int = MAX_TEXT) -> str:
        """Text of any number of lines; it may be empty when there is no message for that."""
        value = self._typed(name)
        if missing and not value:
            self.errors[name] = missing
        elif len(value) > limit:
            self.errors[name] = f"Use at most {limit} characters."
        elif "\x00" in value:
            self.errors[name] = "Use plain text."
        return value

    def choice(self, name: str, options: Mapping[str, Value], missing: str, stand_in: Value) -> Value:
        value = self._typed(name)
        if value not in options:
            self.errors[name] = missing
            return stand_in
        return options[value]

    def price(self, name: str) -> int:
        cents = parse_price(self._typed(name))
        if cents is None:
            self.errors[name] = PRICE_ERROR
        return cents or 0

    def count(self, name: str, lowest: int, highest: int) -> int:
        value = parse_count(self._typed(name))
        if value is None or not lowest <= value <= highest:
            self.errors[name] = f"Enter a whole number from {lowest} to {highest}."
            return lowest
        return value

    def day(self, name: str) -> str:
        value = parse_date(self._typed(name))
        if value is None:
            self.errors[name] = DATE_ERROR
        return value or ""

    def matching(self, name: str, pattern: re.Pattern[str], message: str) -> str:
        value = self._typed(name)
        if not pattern.fullmatch(value):
            self.errors[name] = message
        return value

    def check(self, name: str, is_fine: Callable[[], bool], message: str) -> None:
        """One more rule for a field that has been fine so far."""
        if name not in self.errors and not is_fine():
            self.errors[name] = message

    def ticked(self, name: str) -> bool:
        return self._typed(name) == "1"

    def _typed(self, name: str) -> str:
        # Browsers send the lines of a text with \r\n.
        return self.typed.get(name, "").replace("\r\n", "\n").strip()


def parse_date(text: str) -> str | None:
    """2025-03-04 and no other way to write it, though Python would read several."""
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return None
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return None


def parse_price(text: str) -> int | None:
    """Cents; None for anything that is not a price above zero in whole cents."""
    try:
        cents = Decimal(text.removeprefix("$").replace(",", "")) * 100
    except InvalidOperation:
        return None
    fine = cents.is_finite() and 0 < cents <= MAX_PRICE_CENTS and cents == cents.to_integral_value()
    return int(cents) if fine and text.isascii() else None


def plain_price(cents: int) -> str:
    """As it is typed: 25.50."""
    return f"{cents / 100:.2f}"
