"""The sites a user hosts, from the WA_* variables as BrowserGym names them: addresses, accounts, how to reset them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from clickgrad.errors import UserError

SITES = ("shopping", "shopping_admin", "reddit", "gitlab", "wikipedia", "map")
HOMEPAGE = "homepage"
NOT_HOSTED = "todo"  # BrowserGym's word for a site that is not there
MORE_HOSTS = "WA_MORE_HOSTS"
PORTS = {"http": 80, "https": 443}
SESSIONS_PER_SITE = 4


@dataclass(frozen=True, slots=True)
class Account:
    name: str
    password: str = field(repr=False)


# WebArena's images come with these accounts.
ACCOUNTS = {
    "shopping": Account("emma.lopez@gmail.com", "Password.123"),
    "shopping_admin": Account("admin", "admin1234"),
    "reddit": Account("MarvelsGrantMan136", "test1234"),
    "gitlab": Account("byteblaze", "hello1234"),
}


@dataclass(frozen=True, slots=True)
class Sites:
    urls: dict[str, str]  # of the sites that are hosted, and the homepage; without a slash at the end
    accounts: dict[str, Account]
    more_hosts: tuple[str, ...] = ()

    @property
    def hosts(self) -> tuple[str, ...]:
        """host:port of every place a session may reach, each once."""
        return tuple(dict.fromkeys([*map(_place, self.urls.values()), *self.more_hosts]))

    def fill(self, text: str) -> str:
        for site, url in self.urls.items():
            text = text.replace(f"__{site.upper()}__", url)
        return text


@dataclass(frozen=True, slots=True)
class Hosting:
    """The sites have one state for all, so few sessions at once, and a reset now and then."""

    sessions_per_site: int = SESSIONS_PER_SITE
    reset_command: tuple[str, ...] = ()
    reset_url: str = ""  # of WebArena's reset server
    reset_every: int = 0  # episodes; 0 resets only before the first one
    login_folder: Path | None = None  # where log-ins are kept between runs


def read_hosting(environment: Mapping[str, str] = os.environ) -> Hosting:
    command = tuple(shlex.split(environment.get("WA_RESET_COMMAND", "")))
    url = environment.get("WA_FULL_RESET", "").rstrip("/")
    every = _number("WA_RESET_EVERY", 0, environment)
    if command and url:
        raise UserError("WA_RESET_COMMAND and WA_FULL_RESET are two ways to reset the sites: unset one of them")
    if every and not command and not url:
        raise UserError("WA_RESET_EVERY does nothing alone: say how, with WA_RESET_COMMAND or WA_FULL_RESET")
    folder = environment.get("WA_LOGIN_FOLDER")
    sessions = _number("WA_SESSIONS_PER_SITE", SESSIONS_PER_SITE, environment, least=1)
    return Hosting(sessions, command, url, every, Path(folder) if folder else None)


def _number(name: str, default: int, environment: Mapping[str, str], least: int = 0) -> int:
    text = environment.get(name) or str(default)
    if not text.isdecimal() or int(text) < least:
        raise UserError(f"{name}={text}: give a whole number, {least} or more")
    return int(text)


def read_sites(environment: Mapping[str, str] = os.environ) -> Sites:
    names = {site: f"WA_{site.upper()}" for site in (*SITES, HOMEPAGE)}
    missing = [name for name in names.values() if not environment.get(name)]
    if missing:
        raise UserError(
            f"{', '.join(missing)} not set: give the address of each WebArena site you host, "
            f"and {NOT_HOSTED!r} for those you do not"
        )
    given = {site: environment[name].rstrip("/") for site, name in names.items()}
    urls = {site: url for site, url in given.items() if url != NOT_HOSTED}
    for site, url in urls.items():
        if urlsplit(url).scheme not in PORTS or not urlsplit(url).hostname:
            raise UserError(f"{names[site]}={url} is no address: write it as http://host:port")
    accounts = {site: _account(site, known, environment) for site, known in ACCOUNTS.items()}
    return Sites(urls, accounts, tuple(environment.get(MORE_HOSTS, "").replace(",", " ").split()))


def _account(site: str, known: Account, environment: Mapping[str, str]) -> Account:
    """WA_GITLAB_USERNAME and WA_GITLAB_PASSWORD, and so on, take the place of the images' own."""
    prefix = f"WA_{site.upper()}"
    return Account(
        environment.get(f"{prefix}_USERNAME", known.name), environment.get(f"{prefix}_PASSWORD", known.password)
    )


def _place(url: str) -> str:
    parts = urlsplit(url)
    name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{name}:{parts.port or PORTS[parts.scheme]}"
