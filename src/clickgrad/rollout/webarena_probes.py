"""Looking at the places that WebArena's checks name, when an episode is over. Knows neither browser nor network.

What a locator says comes from the user's own task file and runs in the page; helper functions are dispatched by name.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Protocol

from clickgrad.tasks.webarena.calls import (
    LAST_URL,
    LATEST_ORDER_URL,
    LOCATOR_CALLS,
    MEMBER_ROLE,
    PREFIX,
    REVIEW_AUTHOR,
    URL_CALLS,
    parse_call,
    post_url,
)
from clickgrad.webarena import Probe, ProgramHtml, Target

LAST = "last"
LAMBDA = "lambda:"
_MEMBER_ROLE = """(account) => {
  const names = [...document.querySelectorAll("td[data-label='Account'] span.gl-avatar-labeled-sublabel")];
  const roles = document.querySelectorAll("td.col-max-role span");
  return roles[names.findIndex((name) => name.outerText === "@" + account)].outerText;
}"""


class ScriptFailed(Exception):
    """The script threw: the page is not the one it was written for."""


class Place(Protocol):
    """A page that is looked at."""

    @property
    def url(self) -> str: ...

    async def go(self, url: str) -> None:
        """Returns when the page has come to rest."""

    async def html(self) -> str:
        """The whole document as it is now."""

    async def run(self, function: str, argument: str | None = None) -> object:
        """What a JavaScript function returns, or ScriptFailed."""


class Shop(Protocol):
    async def latest_order_url(self) -> str: ...

    async def latest_review(self, sku: str) -> tuple[str, str]:
        """Author and rating in percent, both "" when there is none."""


NewPlace = Callable[[], AbstractAsyncContextManager[Place]]


async def gather_probes(check: ProgramHtml, place: Place, new_place: NewPlace, shop: Shop) -> tuple[Probe, ...]:
    """`place` is the agent's last page. In the dialect "lite" it is the one that goes from target to target."""
    probes = []
    for target in check.targets:
        url = await _address(target.url, place.url, shop)
        if url == LAST:
            text = await _look(target, place, shop)
        elif check.dialect == "lite":
            await place.go(url)
            text = await _look(target, place, shop)
        else:
            async with new_place() as other:
                await other.go(url)
                text = await _look(target, other, shop)
        probes.append(Probe(target.url, target.locator, text))
    return tuple(probes)


async def _address(url: str, last_url: str, shop: Shop) -> str:
    if not url.startswith(PREFIX):
        return url
    call = parse_call(url, URL_CALLS)
    if call.name == LATEST_ORDER_URL:
        return await shop.latest_order_url()
    return post_url(call.texts[0].replace(LAST_URL, last_url))


async def _look(target: Target, place: Place, shop: Shop) -> str | None:
    locator = target.locator
    if not locator.strip():
        return await place.html()
    if locator.startswith(PREFIX):
        return await _call(locator, place, shop)
    if locator.startswith(LAMBDA):
        found = await _run(place, locator.removeprefix(LAMBDA))
        return str(found) if found else None
    with suppress(ScriptFailed):
        for action in target.prepare:
            await place.run(f"() => {action}")
    # The evaluators take Python's word for what is no text: None for nothing, True for true.
    return str(await _run(place, f"() => {locator}", failed=""))


async def _call(locator: str, place: Place, shop: Shop) -> str:
    call = parse_call(locator, LOCATOR_CALLS)
    if call.name == MEMBER_ROLE:
        return str(await _run(place, _MEMBER_ROLE, call.texts[0], failed=""))
    author, rating = await shop.latest_review(call.texts[0])
    return author if call.name == REVIEW_AUTHOR else rating


async def _run(place: Place, function: str, argument: str | None = None, failed: object = None) -> object:
    try:
        return await place.run(function, argument)
    except ScriptFailed:
        return failed
