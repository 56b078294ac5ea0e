"""What every bundled site provides, and the two things all of them share: the frozen clock and signed sessions.

A session is a signed user id in a cookie, not a row: logging in changes nothing that a task could check.
"""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from starlette.types import ASGIApp

NOW = datetime(2025, 3, 14, 10, 0)
SESSION_COOKIE = "session"
# Fixed on purpose: the same history must give the same bytes, and nothing behind it is secret.
_SIGNING_KEY = b"clickgrad worlds"


@dataclass(frozen=True, slots=True)
class Site:
    name: str
    app: ASGIApp
    build: Callable[[sqlite3.Connection, int], None]  # create the tables and fill them from a seed
    user_id: Callable[[sqlite3.Connection, str], int | None]  # of the user with this login name
    about: str  # for people who come to the front page

    @property
    def host(self) -> str:
        return f"{self.name}.localhost"


def sign_session(site: str, user_id: int) -> str:
    signature = hmac.new(_SIGNING_KEY, f"{site}:{user_id}".encode(), hashlib.sha256).hexdigest()[:32]
    return f"{user_id}.{signature}"


def read_session(site: str, value: str) -> int | None:
    """The signed-in user's id; None for anything that this module did not sign."""
    user_id, _, _ = value.partition(".")
    if not (user_id.isascii() and user_id.isdecimal() and len(user_id) < 10):
        return None
    genuine = sign_session(site, int(user_id))
    return int(user_id) if hmac.compare_digest(genuine.encode(), value.encode()) else None
