"""When two answers say the same: case, spacing, quotes, final punctuation, and ways to write numbers and dates."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

# Numbers that stand alone: the 3 of "KI-003" or of "v1.2.3" belongs to its word and stays as it is.
_NUMBER = re.compile(r"(?<![\w.,-])(-?)\$?\s?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\w-]|[.,]\d)")
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",), ("june", "jun"),
            ("july", "jul"), ("august", "aug"), ("september", "sep", "sept"), ("october", "oct"),
            ("november", "nov"), ("december", "dec"),
        ),
        1,
    )
    for name in names
}  # fmt: skip
_MONTH = "|".join(_MONTHS)
_MONTH_FIRST = re.compile(rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b")
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)? ({_MONTH})\.?,? (\d{{4}})\b")


def normalise(text: str) -> str:
    """The form in which answers are compared.

    >>> normalise(' "$1,250.50". ')
    '1250.5'
    >>> normalise("Placed on March 4, 2025")
    'placed on 2025-03-04'
    """
    text = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    text = text.rstrip(".!?,;: ").strip("\"'`“”‘’ ").rstrip(".!?,;: ")
    text = _MONTH_FIRST.sub(lambda found: _iso(found[3], found[1], found[2]), text)
    text = _DAY_FIRST.sub(lambda found: _iso(found[3], found[2], found[1]), text)
    return _NUMBER.sub(_plain_number, text)


def same(expected: str, answer: str) -> bool:
    return normalise(expected) == normalise(answer)


def mentions(expected: str, answer: str) -> bool:
    """The answer holds the expected text as whole words: 15 does not mention 5."""
    return re.search(rf"(?<![\w.-]){re.escape(normalise(expected))}(?![\w-]|\.\d)", normalise(answer)) is not None


def _iso(year: str, month: str, day: str) -> str:
    return f"{year}-{_MONTHS[month]:02d}-{int(day):02d}"


def _plain_number(found: re.Match[str]) -> str:
    sign, whole, fraction = found[1], found[2].replace(",", ""), found[3] or ""
    if len(whole) > 1 and whole.startswith("0"):
        return found[0]  # a code, not a quantity
    number = Decimal(f"{sign}{whole}{fraction}")
    return f"{number:f}".rstrip("0").rstrip(".") if fraction else f"{number:f}"
