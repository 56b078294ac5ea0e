"""Frozen dataclasses to plain JSON values and back, strictly: unknown, missing or mistyped fields are refused.

A member of a union of dataclasses is written with its class name: `Click(3)` is `{"is": "Click", "element": 3}`.
"""

from __future__ import annotations

import dataclasses
import types
from enum import StrEnum
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
PLAIN = (str, int, float, bool, type(None))


class CodecError(ValueError):
    """The data does not have the shape of the type; says where."""


def to_plain(value: object) -> Any:
    """Dataclasses become dicts tagged with their class, tuples become lists, enums their value."""
    match value:
        case StrEnum():
            return value.value
        case str() | int() | float() | None:
            return value
        case tuple() | list():
            return [to_plain(item) for item in value]
        case _ if dataclasses.is_dataclass(value):
            fields = {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
            return {"is": type(value).__name__} | fields
    raise TypeError(f"no plain form for {type(value).__name__}")


def from_plain(kind: type[T], data: object) -> T:
    return cast(T, _decode(kind, data, kind.__name__))


def _decode(kind: Any, data: Any, where: str) -> Any:
    origin = get_origin(kind)
    if origin is Union or origin is types.UnionType:
        return _decode_union(get_args(kind), data, where)
    if origin is tuple:
        return _decode_tuple(get_args(kind), data, where)
    if origin is Literal:
        if data in get_args(kind):
            return data
        raise CodecError(f"{where}: {data!r} is none of {', '.join(map(repr, get_args(kind)))}")
    if dataclasses.is_dataclass(kind):
        return _decode_dataclass(cast(type, kind), data, where)
    if issubclass(kind, StrEnum):
        if data in {member.value for member in kind}:
            return kind(data)
        raise CodecError(f"{where}: {data!r} is none of {', '.join(member.value for member in kind)}")
    if kind is float and type(data) is int:
        return float(data)
    if type(data) is kind:
        return data
    raise CodecError(f"{where}: expected {kind.__name__}, found {type(data).__name__}")


def _decode_union(kinds: tuple[Any, ...], data: Any, where: str) -> Any:
    if isinstance(data, dict):
        by_name = {cast(type, kind).__name__: kind for kind in kinds if dataclasses.is_dataclass(kind)}
        if data.get("is") not in by_name:
            raise CodecError(f"{where}: `is` must be one of {', '.join(by_name)}")
        return _decode(by_name[data["is"]], data, where)
    if type(data) in kinds:
        return data
    options = [kind for kind in kinds if not dataclasses.is_dataclass(kind) and kind not in PLAIN]
    if float in kinds and type(data) is int:
        return float(data)
    if options:
        return _decode(options[0], data, where)
    raise CodecError(f"{where}: unexpected {type(data).__name__}")


def _decode_tuple(kinds: tuple[Any, ...], data: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise CodecError(f"{where}: expected a list, found {type(data).__name__}")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        if kinds[0] in (int, float, str) and all(type(item) is kinds[0] for item in data):
            return tuple(data)  # token ids and logprobs: nearly all of a trajectory
        return tuple(_decode(kinds[0], item, f"{where}[{index}]") for index, item in enumerate(data))
    if len(kinds) != len(data):
        raise CodecError(f"{where}: expected {len(kinds)} items, found {len(data)}")
    return tuple(
        _decode(kind, item, f"{where}[{index}]") for index, (kind, item) in enumerate(zip(kinds, data, strict=True))
    )


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _decode_dataclass(kind: type, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise CodecError(f"{where}: expected an object, found {type(data).__name__}")
    hints = _hints(kind)
    unknown = data.keys() - hints.keys() - {"is"}
    if unknown:
        raise CodecError(f"{where}: unknown field {sorted(unknown)[0]!r}")
    if data.get("is", kind.__name__) != kind.__name__:
        raise CodecError(f"{where}: expected {kind.__name__}, found {data['is']}")
    required = {
        field.name
        for field in dataclasses.fields(kind)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    missing = required - data.keys()
    if missing:
        raise CodecError(f"{where}: field {sorted(missing)[0]!r} is missing")
    return kind(**{name: _decode(hints[name], data[name], f"{where}.{name}") for name in data.keys() - {"is"}})
