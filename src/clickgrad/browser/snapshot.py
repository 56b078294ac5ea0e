"""A page as plain values: what the in-page script saw, before it is rendered to lines."""

from __future__ import annotations

import json
from dataclasses import dataclass

from clickgrad.types import Element


@dataclass(frozen=True, slots=True)
class Text:
    """The static text of one block."""

    text: str
    tag: str = "p"


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
    """`above` and `below` say whether the page goes on beyond the viewport."""

    url: str
    title: str
    items: tuple[Text | Control, ...]
    above: bool = False
    below: bool = False

    @property
    def elements(self) -> tuple[Element, ...]:
        controls = (item for item in self.items if isinstance(item, Control))
        return tuple(Element(c.id, c.role, c.name, c.value, c.options, c.box) for c in controls)


def read_snapshot(text: str) -> Snapshot:
    """Read what observe.js returned."""
    page = json.loads(text)
    items = tuple(_read_item(item) for item in page["items"])
    return Snapshot(page["url"], page["title"], items, page["above"], page["below"])


def _read_item(item: dict[str, object]) -> Text | Control:
    if "text" in item:
        return Text(str(item["text"]), str(item["tag"]))
    number, options, states = item["id"], item["options"], item["states"]
    if not isinstance(number, int) or not isinstance(options, list) or not isinstance(states, list):
        raise TypeError(f"not a control: {item}")
    words = {name: str(item[name]) for name in ("role", "name", "value", "tag", "type", "placeholder")}
    return Control(id=number, options=tuple(options), states=tuple(states), box=_read_box(item.get("box")), **words)


def _read_box(sides: object) -> tuple[int, int, int, int] | None:
    if not isinstance(sides, list):
        return None
    left, top, width, height = (int(side) for side in sides)
    return left, top, width, height
