"""A page as plain values: what the in-page script saw, before it is rendered to lines."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from clickgrad.types import Element


@dataclass(frozen=True, slots=True)
class Text:
    """The static text of one block; `ours` if it is not the page's but said about it."""

    text: str
    tag: str = "p"
    ours: bool = False
    covered: bool = False  # something lies over it


@dataclass(frozen=True, slots=True)
class Control:
    """Something that can be acted on. `states` holds words such as disabled, selected, expanded."""

    id: int
    role: str
    name: str
    value: str = ""
    options: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    tag: str = ""
    type: str = ""
    placeholder: str = ""
    box: tuple[int, int, int, int] | None = None  # left, top, width, height in the viewport


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What can be seen of a page. Every rendering has a line for each item, in their order; `above` and `below` say
    whether the page goes on beyond the viewport, which is a line more at either end."""

    url: str
    title: str
    items: tuple[Text | Control, ...]
    above: bool = False
    below: bool = False

    @property
    def elements(self) -> tuple[Element, ...]:
        controls = ((line, item) for line, item in enumerate(self.items, self.above) if isinstance(item, Control))
        return tuple(Element(c.id, c.role, c.name, c.value, c.options, c.box, line) for line, c in controls)

    @property
    def texts(self) -> tuple[str, ...]:
        """What each line says in the page's own words; nothing where a line is ours."""
        return (*[""] * self.above, *map(_words, self.items), *[""] * self.below)


def _words(item: Text | Control) -> str:
    if isinstance(item, Control):
        return item.name
    return "" if item.ours else item.text


# Halves of characters cannot be stored or tokenized, and control characters are there for terminals, not for readers.
_UNFIT = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(text: str) -> str:
    r"""The border to the page: every text that comes from one passes here.

    >>> clean("half \ud83d, whole \U0001f600, bell \x07")
    'half \ufffd, whole \U0001f600, bell \ufffd'
    """
    return _UNFIT.sub("\ufffd", text)


def read_snapshot(text: str) -> Snapshot:
    """Read what observe.js returned."""
    page = json.loads(text)
    items = tuple(_read_item(item) for item in page["items"])
    return Snapshot(clean(page["url"]), clean(page["title"]), items, page["above"], page["below"])


def _read_item(item: dict[str, object]) -> Text | Control:
    if "text" in item:
        return Text(clean(str(item["text"])), str(item["tag"]), item.get("ours") is True, item.get("covered") is True)
    number, options, states = item["id"], item["options"], item["states"]
    if not isinstance(number, int) or not isinstance(options, list) or not isinstance(states, list):
        raise TypeError(f"not a control: {item}")
    words = {name: clean(str(item[name])) for name in ("role", "name", "value", "tag", "type", "placeholder")}
    options = [clean(str(option)) for option in options]
    return Control(id=number, options=tuple(options), states=tuple(states), box=_read_box(item.get("box")), **words)


def _read_box(sides: object) -> tuple[int, int, int, int] | None:
    if not isinstance(sides, list):
        return None
    left, top, width, height = (int(side) for side in sides)
    return left, top, width, height
