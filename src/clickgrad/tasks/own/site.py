"""site.toml: how the user's site is started or reached, and how it is put back before an episode."""

from __future__ import annotations

import re
import shlex
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from clickgrad.errors import UserError

COPIES = 4  # when the command can be started many times
NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")


class OwnSite(BaseModel):
    """Every option of site.toml, checked. Without `reset_url`, `reset_command` or `shared` a command is restarted
    for every episode."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str  # pages are at http://<name>.localhost/ when the site is started by a command
    start: str = ""  # a command with {port}, and {data}: an empty folder of its own
    url: str = ""  # or where the site already runs
    port: int = Field(0, ge=0, le=65535)  # of a command that cannot be told one
    instances: int = Field(0, ge=0)  # copies at most; 0 means 4, or 1 where there can be no more
    ready: str = Field("/", pattern="^/")  # the path that answers when the site is up
    ready_s: float = Field(30.0, gt=0)
    reset_url: str = ""  # a path or URL, asked by POST
    reset_command: str = ""
    reset_s: float = Field(30.0, gt=0)
    shared: bool = False  # episodes do not disturb each other: no reset, any number at once
    allow: list[str] = []  # more hosts that pages may reach
    check_s: float = Field(30.0, gt=0)  # for each check in Python
    clock: str = ""  # what pages take for the time of day when an episode begins, as 2026-01-01T09:00:00Z
    settle_s: float = Field(
        0.0, ge=0
    )  # an action is over when, besides, nothing has changed for so long; 0 is rollout.settle_s

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        fault = _fault(self)
        if fault:
            raise ValueError(fault)
        return self

    @property
    def clock_s(self) -> float:
        """In seconds since 1970; 0 is the time of day."""
        return datetime.fromisoformat(self.clock).timestamp() if self.clock else 0.0

    @property
    def base(self) -> str:
        """What a task's path is put behind; without a final slash."""
        return self.url.rstrip("/") if self.url else f"http://{self.name}.localhost"

    @property
    def copies(self) -> int:
        return self.instances or (COPIES if "{port}" in self.start and not self.shared else 1)

    @property
    def restarts(self) -> bool:
        return bool(self.start) and not (self.reset_url or self.reset_command or self.shared)


def _fault(site: OwnSite) -> str:
    """What does not fit together, and what to do; "" when all does."""
    resets = [name for name in ("reset_url", "reset_command", "shared") if getattr(site, name)]
    if bool(site.start) == bool(site.url):
        return "give either start, a command, or url, where the site runs"
    if not NAME.fullmatch(site.name):
        return f"name = {site.name!r}: use small letters, digits and hyphens"
    if len(resets) > 1:
        return f"{resets[0]} and {resets[1]} exclude each other: keep one"
    if site.url and not resets:
        return "say how episodes are kept apart: reset_url, reset_command, or shared = true if nothing need be reset"
    if site.url and (urlsplit(site.url).scheme not in ("http", "https") or not urlsplit(site.url).hostname):
        return f"url = {site.url!r}: write it as http://host or https://host"
    if site.url and site.port:
        return "port belongs to start; the url has its own"
    return _clock_fault(site) or _command_fault(site)


def _clock_fault(site: OwnSite) -> str:
    try:
        aware = not site.clock or datetime.fromisoformat(site.clock).tzinfo is not None
    except ValueError:
        aware = False
    return "" if aware else f"clock = {site.clock!r}: write it with its time zone, as 2026-01-01T09:00:00Z"


def _command_fault(site: OwnSite) -> str:
    for name in ("start", "reset_command"):
        try:
            words = shlex.split(getattr(site, name))
        except ValueError as error:
            return f"{name} cannot be split into words ({error}): mend its quotes"
        if getattr(site, name) and not words:
            return f"{name} is empty"
    if site.start and ("{port}" in site.start) == bool(site.port):
        return "tell start its port with {port}, or give the port it always uses as port = ..."
    if site.copies > 1 and ("{port}" not in site.start or site.shared):
        return f"instances = {site.copies}: more than one needs a start command with {{port}}, and no shared"
    return ""


def read_site(folder: Path) -> OwnSite:
    path = folder / "site.toml"
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"{folder} is no site of your own: {path.name} ({error.strerror})") from None
    except ValueError as error:
        raise UserError(f"{path} is not TOML: {error}") from None
    try:
        return OwnSite.model_validate({"name": folder.resolve().name.lower()} | values)
    except ValidationError as error:
        raise UserError(f"{path}: {validation_fault(error, OwnSite)}") from None


def validation_fault(error: ValidationError, kind: type[BaseModel]) -> str:
    """The first thing that is wrong, in one line."""
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        return f"unknown option {where}: known are {', '.join(kind.model_fields)}"
    if first["type"] == "value_error":
        return first["msg"].removeprefix("Value error, ")
    if first["type"] == "missing":
        return f"{where} is missing"
    return f"{where}: {first['msg'].lower()}, not {first['input']!r}"
