"""Asking a user's site one thing: plain HTTP without proxies, cookies or redirects, within a deadline."""

from __future__ import annotations

import http.client
import socket
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from clickgrad.errors import WorldError

MOST_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    text: str


def ask(url: str, method: Literal["GET", "POST"] = "GET", timeout_s: float = 10.0) -> Reply:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request(method, path, headers={"Content-Length": "0"} if method == "POST" else {})
        answer = connection.getresponse()
        return Reply(answer.status, answer.read(MOST_BYTES).decode("utf-8", "replace"))
    except (OSError, http.client.HTTPException) as error:
        raise WorldError(f"{method} {url}: {type(error).__name__}: {error}".removesuffix(": ")) from error
    finally:
        connection.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0
