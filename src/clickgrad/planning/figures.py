"""What is known of GPUs and machines: data sheets, and what `clickgrad bench` printed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from math import inf
from pathlib import Path
from typing import Any

from clickgrad.errors import UserError

Figures = Mapping[str, float]
MEASURED = "cpu-2core"  # the machine whose figures are shipped; beside GPUs, too, browsers are taken to be as there
MEASURED_MODEL = "smollm2"  # that the benches run


@cache
def shipped() -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / "figures.toml").read_text())


def find_gpu(device: str) -> Figures | None:
    """Its data sheet; None for the machine that was measured."""
    gpus: dict[str, Figures] = shipped()["gpus"]
    if device not in {MEASURED, *gpus}:
        raise UserError(f"--device {device}: unknown; known are {', '.join([MEASURED, *gpus])}")
    return gpus.get(device)


def read_measured(path: Path) -> dict[str, Figures]:
    """Lines of `clickgrad bench ... --json` by bench; of two of a kind the later one counts."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--measured {path}: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    found = dict(_read_line(line, f"--measured {path}, line {at}") for at, line in enumerate(lines, 1) if line.strip())
    if not found:
        raise UserError(f"--measured {path} is empty: fill it with `clickgrad bench browser --json >> {path}`")
    return found


def _read_line(line: str, where: str) -> tuple[str, Figures]:
    """A bench is told by the figures that are shipped of it."""
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    benches: dict[str, Figures] = shipped()["measured"][MEASURED]
    for bench, names in benches.items():
        if isinstance(row, dict) and names.keys() <= row.keys():
            for name in names:
                if type(row[name]) not in (int, float) or not 0 < row[name] < inf:
                    raise UserError(f"{where}: {name} is {row[name]!r}, not a number above 0")
            return bench, {name: row[name] for name in names}
    raise UserError(f"{where} is no line of `clickgrad bench {'|'.join(benches)} --json` of this version")
