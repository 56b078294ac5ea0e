"""docs/trajectory-format.md is the format: every object, field, type and value, and its example is a record."""

from __future__ import annotations

import dataclasses
import json
import re
import types
from enum import StrEnum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from documents import DOCS, blocks, tables

from clickgrad.codec import from_plain, to_plain
from clickgrad.rollout.store import FORMAT
from clickgrad.types import Action, Check, Scalar, Trajectory, Unparsable

PAGE = DOCS / "trajectory-format.md"
NAMED: list[tuple[Any, str]] = [(Check, "Check"), (Action | Unparsable, "Action"), (Scalar, "scalar")]
PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}


def told(kind: Any) -> str:
    """A type as the page writes it: `tuple[str, ...] | None` is "list of string or null"."""
    for union, name in NAMED:
        if kind == union:
            return name
    inside = get_args(kind)
    if kind in PLAIN:
        return PLAIN[kind]
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(map(told, inside))
    if get_origin(kind) is Literal:
        return re.sub(r", (`[^,]+)$", r" or \1", ", ".join(f'`"{value}"`' for value in inside))
    if get_origin(kind) is tuple:
        return f"list of {told(inside[0])}" if inside[-1] is Ellipsis else f"[{', '.join(map(told, inside))}]"
    return str(kind.__name__)


def reachable(kind: Any, found: dict[str, type]) -> dict[str, type]:
    """All dataclasses and enums that a value of this type may hold, by name."""
    for inside in get_args(kind):
        reachable(inside, found)
    is_ours = dataclasses.is_dataclass(kind) or (isinstance(kind, type) and issubclass(kind, StrEnum))
    if is_ours and kind.__name__ not in found:
        found[kind.__name__] = kind
        for hint in get_type_hints(kind).values() if dataclasses.is_dataclass(kind) else ():
            reachable(hint, found)
    return found


def documented() -> dict[str, dict[str, str]]:
    """What the page says: object -> field -> type; of enums, value -> "value"."""
    objects: dict[str, dict[str, str]] = {}
    for heading, header, rows in tables(PAGE):
        if header == ["field", "type", "meaning"]:
            objects[heading] = {row[0].strip("`"): re.sub(r"\[(\w+)\]\(#[\w-]+\)", r"\1", row[1]) for row in rows}
        elif header == ["object", "fields", "meaning"]:
            for row in rows:
                objects[row[0].strip("`")] = dict(re.findall(r"`(\w+)` (.+?)(?=, `\w+` |$)", row[1]))
        elif header == ["value", "meaning"]:
            objects[heading] = {row[0].strip("`"): "value" for row in rows}
    return objects


def defined(kind: Any) -> dict[str, str]:
    if not dataclasses.is_dataclass(kind):
        return {str(member): "value" for member in kind}
    hints = get_type_hints(kind)
    return {field.name: told(hints[field.name]) for field in dataclasses.fields(kind)}


def test_every_object_field_type_and_value_is_documented_and_no_other() -> None:
    page, code = documented(), {name: defined(kind) for name, kind in reachable(Trajectory, {}).items()}
    assert sorted(page) == sorted(code)
    for name, fields in code.items():
        assert page[name] == fields, name


def test_the_example_is_a_whole_record_of_this_format() -> None:
    record = json.loads(blocks(PAGE, "json")[0])
    assert record.keys() == {"format", "trajectory"}
    assert record["format"] == FORMAT
    assert to_plain(from_plain(Trajectory, record["trajectory"])) == record["trajectory"]
    assert f"The format is {FORMAT}." in PAGE.read_text()
