"""Logging in to the sites, once for each, through their own forms. What a log-in leaves is used by every session.

It is kept in memory, and between runs only in a folder the user names, in files that nobody else can read.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from clickgrad.browser.chromium_session import ChromiumSession
from clickgrad.browser.pool import Browser
from clickgrad.errors import BrowserError, UserError, boundary
from clickgrad.tasks.webarena.sites import Sites
from clickgrad.types import PressEnter

if TYPE_CHECKING:
    from playwright.async_api import StorageState

# Where the forms are; a site that knows us already shows something else there.
LOGIN_PAGES = {
    "shopping": "/customer/account/login/",
    "shopping_admin": "",
    "reddit": "/login",
    "gitlab": "/users/sign_in",
}
_FORM = "form:has(input[type=password]:visible)"
_PASSWORD = "input[type=password]:visible"
_NAME = "input:visible:is([type=text], [type=email], :not([type]))"


class Logins:
    def __init__(self, sites: Sites, browser: Browser, folder: Path | None, timeout_s: float = 30.0) -> None:
        self._sites = sites
        self._browser = browser
        self._folder = folder
        self._timeout_s = timeout_s
        self._known: dict[str, StorageState] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def forget(self) -> None:
        """After a reset the sites know nobody."""
        self._known.clear()

    async def state(self, sites: Iterable[str]) -> StorageState:
        """For a session on these sites. Cookies know no ports: of two sites on one host the last one named wins."""
        states = [await self._of(site) for site in sites if site in LOGIN_PAGES]
        cookies = {
            (cookie["name"], cookie["domain"], cookie["path"]): cookie for s in states for cookie in s["cookies"]
        }
        origins = {origin["origin"]: origin for s in states for origin in s["origins"]}
        return {"cookies": list(cookies.values()), "origins": list(origins.values())}

    async def _of(self, site: str) -> StorageState:
        async with self._locks[site]:
            if site not in self._known:
                self._known[site] = await self._log_in(site)
            return self._known[site]

    async def _log_in(self, site: str) -> StorageState:
        url = self._sites.urls[site] + LOGIN_PAGES[site]
        session = await self._browser.open(url, state=self._stored(site))
        try:
            with boundary(BrowserError, f"logging in to {site}"):
                async with asyncio.timeout(self._timeout_s):
                    if await session.page.locator(_PASSWORD).count():
                        await self._fill(site, session)
                    state = await session.page.context.storage_state()
        finally:
            await session.close()
        self._store(site, state)
        return state

    async def _fill(self, site: str, session: ChromiumSession) -> None:
        account, form = self._sites.accounts[site], session.page.locator(_FORM).first
        await form.locator(_NAME).first.fill(account.name)
        await form.locator(_PASSWORD).first.fill(account.password)
        await form.locator(_PASSWORD).first.focus()
        await session.perform(PressEnter())
        if await session.page.locator(_PASSWORD).count():
            prefix = f"WA_{site.upper()}"
            raise UserError(f"{site} refuses the log-in of {account.name}: set {prefix}_USERNAME and {prefix}_PASSWORD")

    # --- between runs ---

    def _stored(self, site: str) -> StorageState | None:
        file = self._file(site)
        if file is None or not file.is_file():
            return None
        try:
            state = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError):
            raise UserError(f"{file} is no storage state: remove it, and it will be made again") from None
        return cast("StorageState", state)

    def _store(self, site: str, state: StorageState) -> None:
        file = self._file(site)
        if file is None:
            return
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = file.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            json.dump(state, out)
        fresh.replace(file)

    def _file(self, site: str) -> Path | None:
        return self._folder / f"{site}_state.json" if self._folder else None
