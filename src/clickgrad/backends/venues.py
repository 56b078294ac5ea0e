"""Where episodes happen, by the options: the suite's sites and a browser for them, and who judges what rules cannot."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clickgrad.browser.chromium import require_chromium
from clickgrad.browser.hands import Abilities
from clickgrad.browser.pool import Browser, Sharing
from clickgrad.browser.tab import Pace
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.rollout.miniwob_venue import open_miniwob
from clickgrad.rollout.venue import OpenBrowser, Venue, open_arena
from clickgrad.tasks.suites import Miniwob, OwnSite, WebArena, parse_suite

if TYPE_CHECKING:
    from clickgrad.rollout.webarena_services import Judge


@asynccontextmanager
async def open_venue(config: Config, judge: Judge | None = None) -> AsyncIterator[Venue]:
    """For as long as the block lasts; sites and browser end with it, whatever happens."""
    executable = require_chromium()
    browsers, opens = config.rollout.browsers, browser_opener(config, executable)
    new_browser = opens(Pace(config.rollout.settle_s))

    opened: AbstractAsyncContextManager[Venue]
    match parse_suite(config.tasks.suite):
        case Miniwob():
            opened = open_miniwob(new_browser)
        case WebArena():
            from clickgrad.rollout.webarena_venue import open_webarena

            opened = open_webarena(new_browser, judge)
        case OwnSite(folder):
            from clickgrad.rollout.own_site_venue import open_own_site
            from clickgrad.tasks.own import read_site

            if browsers > 1:
                raise UserError("rollout.browsers: a site of your own has a browser for each of its copies already")
            site = read_site(folder)
            opened = open_own_site(folder, opens(Pace(site.settle_s or config.rollout.settle_s, site.clock_s)))
        case _:
            opened = open_arena(config.tasks.seed, new_browser)
    async with opened as venue:
        yield venue


def browser_opener(config: Config, executable: Path) -> Callable[[Pace], OpenBrowser]:
    """Browsers by the options, for pages that live at a pace."""
    agent = config.agent
    abilities = Abilities(agent.actions == "full", Path(agent.files) if agent.files else None)

    def opens(pace: Pace) -> OpenBrowser:
        return lambda hosts: Browser(
            hosts,
            executable,
            rendering=agent.rendering,
            sharing=Sharing(config.rollout.browsers),
            pace=pace,
            abilities=abilities,
        )

    return opens


def universe_of(config: Config) -> int | None:
    """The seed of the bundled sites, where they are the ones played in."""
    own = isinstance(parse_suite(config.tasks.suite), Miniwob | WebArena | OwnSite)
    return None if own else config.tasks.seed


def open_judge(config: Config) -> Judge | None:
    options = config.judge
    if not options.url and not options.model:
        return None
    if not options.url or not options.model:
        raise UserError("a judge takes both judge.url and judge.model")
    if not isinstance(parse_suite(config.tasks.suite), WebArena):
        raise UserError(f"no check of the suite {config.tasks.suite} asks a judge: leave judge.url and judge.model out")
    from clickgrad.rollout.webarena_services import Judge

    return Judge(options.url, options.model, os.environ.get(options.key_variable, ""), options.timeout_s)
