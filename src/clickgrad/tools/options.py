"""Every option with its default, its meaning and what the presets say: read off the sections themselves.

The meaning of an option is the remark beside it in the source, so that there is one text to keep true.
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from clickgrad.config import READ_BY, Config, near_option, presets
from clickgrad.errors import UserError

_FIELD = re.compile(r"^    (\w+)\s*:\s.*?(?:  # (.*))?$")
_ABOVE = re.compile(r"^    # (.*)$")


@dataclass(frozen=True, slots=True)
class Option:
    name: str  # as `--set` takes it: reinforce.steps
    kind: str
    default: Any
    meaning: str
    presets: tuple[tuple[str, Any], ...]  # those that set it, and to what
    commands: tuple[str, ...]  # that read it

    def plain(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in ("name", "kind", "default", "meaning")}
        return told | {"presets": dict(self.presets), "commands": list(self.commands)}


def list_options(section: str | None = None) -> list[Option]:
    """Of one section, of one option, or all."""
    options = list(_walk(Config, ""))
    if section is None:
        return options
    found = [one for one in options if one.name == section or one.name.startswith(f"{section}.")]
    if not found:
        known = [*Config.model_fields, *(one.name for one in options)]
        sections = ", ".join(name for name in Config.model_fields if name != "seed")
        raise UserError(f"no section or option {section!r}{near_option(section, known)}; the sections are {sections}")
    return found


def as_text(options: list[Option]) -> str:
    """For the terminal: a block a section."""
    lines, section = list[str](), None
    width = max(len(one.name) for one in options)
    for one in options:
        of = one.name.rpartition(".")[0] or "(top)"
        if of != section:
            section = of
            lines += [*([""] if lines else []), f"[{of}]  read by {', '.join(one.commands)}"]
        lines.append(f"  {one.name:<{width}}  {_shown(one.default):<10}  {one.meaning}".rstrip())
        if one.presets:
            said = ", ".join(f"{name} {_shown(value)}" for name, value in one.presets)
            lines.append(f"  {'':<{width}}  {'':<10}  presets: {said}")
    return "\n".join(lines)


def _shown(value: Any) -> str:
    return json.dumps(value) if not isinstance(value, float) else f"{value:g}"


def _walk(model: type[BaseModel], prefix: str) -> Iterator[Option]:
    remarks = _remarks(model)
    for name, field in model.model_fields.items():
        path = f"{prefix}{name}"
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _walk(field.annotation, f"{path}.")
            continue
        default = None if field.default is PydanticUndefined else field.default
        top = path.partition(".")[0]
        readers = tuple(sorted(command for command, sections in READ_BY.items() if top in sections))
        yield Option(path, _kind(field.annotation), default, remarks.get(name, ""), tuple(_in_presets(path)), readers)


def _kind(annotation: Any) -> str:
    return getattr(annotation, "__name__", str(annotation).replace("typing.", ""))


def _remarks(model: type[BaseModel]) -> dict[str, str]:
    """Beside a field, or in the lines above it."""
    found, above = dict[str, str](), list[str]()
    for line in _source(model):
        if match := _FIELD.match(line):
            found[match[1]] = match[2] or " ".join(above)
        above = [*above, remark[1]] if (remark := _ABOVE.match(line)) else []
    return found


def _source(model: type[BaseModel]) -> Iterator[str]:
    """Of the section and of what it takes options from."""
    for kind in reversed(model.__mro__):
        if kind.__module__.startswith("clickgrad."):
            yield from inspect.getsource(kind).splitlines()


@cache
def _preset(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("clickgrad") / "presets" / f"{name}.toml").read_text())


def _in_presets(path: str) -> Iterator[tuple[str, Any]]:
    for name in presets():
        value: Any = _preset(name)
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            yield name, value
