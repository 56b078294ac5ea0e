"""Where episodes happen, by the options: the suite's sites and a browser for them, and who judges what rules cannot."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from clickgrad.browser.chromium import require_chromium
from clickgrad.browser.pool import Browser
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.rollout.miniwob_venue import open_miniwob
from clickgrad.rollout.venue import Venue, open_arena
from clickgrad.tasks.suites import Miniwob, OwnSite, WebArena, parse_suite

if TYPE_CHECKING:
    from clickgrad.rollout.webarena_services import Judge


@asynccontextmanager
async def open_venue(config: Config, judge: Judge | None = None) -> AsyncIterator[Venue]:
    """For as long as the block lasts; sites and browser end with it, whatever happens."""
    executable = require_chromium()
    rendering, browsers = config.agent.rendering, config.rollout.browsers

    def new_browser(hosts: Mapping[str, str]) -> Browser:
        return Browser(hosts, executable, rendering=rendering, browsers=browsers)

    opened: AbstractAsyncContextManager[Venue]
    match parse_suite(config.tasks.suite):
        case Miniwob():
            opened = open_miniwob(new_browser)
        case WebArena():
            from clickgrad.rollout.webarena_venue import open_webarena

            opened = open_webarena(new_browser, judge)
        case OwnSite(folder):
            from clickgrad.rollout.own_site_venue import open_own_site

            if browsers > 1:
                raise UserError("rollout.browsers: a site of your own has a browser for each of its copies already")
            opened = open_own_site(folder, new_browser)
        case _:
            opened = open_arena(config.tasks.seed, new_browser)
    async with opened as venue:
        yield venue


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
