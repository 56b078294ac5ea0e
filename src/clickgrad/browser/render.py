"""From a snapshot to the lines the model reads: `outline`, made for few tokens, and `html`, shaped like the paper's.

In an outline every word follows a space, so that a tokenizer cuts it as it cuts the same word in the goal.

    link Blue Ceramic Mug [3]
    $12.50, 4.5 stars
    textbox Search [5] = blue
    select Sort by [7] = Name (Name, Price low to high, Rating)
    button Add to Cart [9] (disabled)

Words of a page that read like words of ours stand in quotation marks: a line `Notice: ...`, or anything with a number
in brackets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from html import escape
from typing import Literal

from clickgrad.browser.snapshot import Control, Snapshot, Text

Rendering = Literal["outline", "html"]

MORE_ABOVE = "… more above, scroll up"
MORE_BELOW = "… more below, scroll down"
OPTIONS_SHOWN = 60
# How lines of ours begin, here and in a prompt, and the number that only an element has.
_OUR_LINES = re.compile(
    r"\W*(?:(?:notice|task|page|tabs)\s*:|more (?:above|below)\W+scroll\b|simplified html\b"
    r"|more to the (?:left|right)\b|the (?:rest of the )?page (?:is )?behind\b|frame \S* ?\(cannot be read)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\[\s*\d+\s*\]")
_VALUED = ("spinbutton", "slider", "combobox", "gridcell")
_BUTTON_TYPES = ("button", "submit", "reset", "image")


def render(snapshot: Snapshot, rendering: Rendering) -> tuple[str, ...]:
    """A line for each item, in their order, between those that say where the page goes on."""
    above = (MORE_ABOVE,) if snapshot.above else ()
    below = (MORE_BELOW,) if snapshot.below else ()
    return above + tuple(map(_LINES[rendering], snapshot.items)) + below


def _shown_options(control: Control) -> list[str]:
    hidden = len(control.options) - OPTIONS_SHOWN
    return [*control.options[:OPTIONS_SHOWN], *([f"{hidden} more"] if hidden > 0 else [])]


def _quoted_if_like_ours(text: str, like_ours: re.Pattern[str]) -> str:
    """Letters of another width and what has none are seen through: both look like ours to a model, too."""
    if text.isascii():
        plain = text
    else:
        folded = unicodedata.normalize("NFKC", text)
        plain = "".join(letter for letter in folded if unicodedata.category(letter) != "Cf")
    found = like_ours.match(plain) or _NUMBER.search(plain)
    return f'"{text}"' if found else text


def _told_line(text: Text) -> str:
    if text.ours:
        return text.text
    told = _quoted_if_like_ours(text.text, _OUR_LINES)
    return f"{told} (covered)" if text.covered else told


def _told_word(text: str) -> str:
    """A word within a line of ours, which begins as no other."""
    return _quoted_if_like_ours(text, _NUMBER)


def _outline_line(item: Text | Control) -> str:
    if isinstance(item, Text):
        return _told_line(item)
    # The id comes right after the name, so that copying the name leads on to copying the id.
    words = [item.role, _told_word(item.name), f"[{item.id}]"] if item.name else [item.role, f"[{item.id}]"]
    # A link's or a button's name says all; a field is worth a "=" only when there is something in it.
    if item.value:
        words.append(f"= {_told_word(item.value)}")
    if item.options:
        words.append(f"({', '.join(map(_told_word, _shown_options(item)))})")
    if _is_hint(item):
        words.append(f'(placeholder "{_told_word(item.placeholder)}")')
    if item.states:
        words.append(f"({', '.join(item.states)})")
    return " ".join(words)


def _is_hint(control: Control) -> bool:
    """Whether a placeholder can be seen and says more than the label beside it."""
    hint, name = control.placeholder.casefold(), control.name.casefold()
    return bool(hint) and not control.value and name not in hint


def _html_line(item: Text | Control) -> str:
    if isinstance(item, Text):
        return f"<{item.tag}> {_content(_told_line(item))} </{item.tag}>"
    tag = item.tag or "button"
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in _attributes(item) if value)
    opening = f'<{tag} id="{item.id}"{attributes}>'
    if tag == "input":
        return opening
    if tag == "select":
        chosen = item.value
        options = (
            f"<option{' selected' if o == chosen else ''}> {_content(o)} </option>" for o in _shown_options(item)
        )
        return " ".join([opening, *options, "</select>"])
    content = _content(item.value if item.role == "textbox" else item.name)
    return " ".join(part for part in (opening, content, f"</{tag}>") if part)


def _content(text: str) -> str:
    """Text that cannot pass for an element. An ampersand stays as it is: what is read may have to be typed."""
    return text.replace("<", "&lt;")


def _attributes(control: Control) -> list[tuple[str, str]]:
    """The attributes the paper keeps. A field's label is dropped from the text around it, hence its title here."""
    field = control.tag in ("input", "select", "textarea") or control.role == "textbox"
    clicked = control.type in _BUTTON_TYPES
    checkable = control.value in ("on", "off") and control.role != "textbox"
    checked = ("checked",) if checkable and control.value == "on" else ()
    value = control.name if clicked else control.value
    valued = control.tag == "input" or (control.role in _VALUED and control.tag not in ("select", "textarea"))
    mixed = ("mixed",) if control.value == "mixed" else ()
    return [
        ("type", control.type),
        ("title", control.name if field and not clicked and control.name != control.placeholder else ""),
        ("placeholder", control.placeholder),
        ("value", value if valued and not checkable and not mixed else ""),
        ("status", " ".join(checked + mixed + control.states)),
    ]


_LINES: dict[Rendering, Callable[[Text | Control], str]] = {"outline": _outline_line, "html": _html_line}
