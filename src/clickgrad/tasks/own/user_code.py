"""Python of the user's own: imported by its path, its mistakes told with file and line."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from clickgrad.errors import InfraError, UserError, boundary


@contextmanager
def user_code(path: Path) -> Iterator[None]:
    """What goes wrong inside is the user's to mend."""
    try:
        with boundary(InfraError, path.name):
            yield
    except InfraError as failed:
        # A plain InfraError is the boundary's wrapping; ours, such as a WorldError of `fetch`, speak for themselves.
        cause = failed.__cause__ if type(failed) is InfraError and failed.__cause__ else failed
        raise UserError(_describe(cause, path)) from cause


@cache
def load_module(path: Path) -> ModuleType:
    """Files beside it can be imported at its top."""
    spec = importlib.util.spec_from_file_location(f"clickgrad_own_{path.stem}_{abs(hash(path))}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    sys.path.insert(0, str(path.parent))
    try:
        with user_code(path):
            spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


def functions(path: Path) -> dict[str, Callable[..., Any]]:
    """Those a file defines itself, by name; none if there is no such file. Names with a leading _ are private."""
    if not path.is_file():
        return {}
    module = load_module(path.resolve())
    found = inspect.getmembers(module, inspect.isfunction)
    return {name: made for name, made in found if made.__module__ == module.__name__ and not name.startswith("_")}


def _describe(error: BaseException, path: Path) -> str:
    line = error.lineno if isinstance(error, SyntaxError) else line_in(error, path)
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    first = (said.strip().splitlines() or [""])[0]
    where = f"{path}, line {line}" if line else str(path)
    return f"{where}: {type(error).__name__}: {first}".removesuffix(": ")


def line_in(error: BaseException, path: Path) -> int | None:
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if Path(frame.filename) == path.resolve()), None)
