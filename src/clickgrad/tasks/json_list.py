"""A user's JSON file that holds a list of tasks; what is in the list is its reader's affair."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from clickgrad.errors import UserError


def read_json_list(path: Path) -> list[Any]:
    try:
        entries = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"cannot read the tasks file {path}: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{path} is not JSON ({error}): make it a list of tasks") from error
    if not isinstance(entries, list):
        raise UserError(f"{path} holds a {type(entries).__name__}: make it a list of tasks")
    return entries
