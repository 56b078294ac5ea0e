"""Pages that real Chromium cannot use any more: the agent's doing where its click does it every time."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from loopback import Answer, SiteVenue, serve

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import Browser, find_chromium
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.rollout.episode import Agent, Limits, run_episode
from clickgrad.types import End, PageCheck, Task

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(find_chromium() is None, reason="no Chromium on this machine")]
BUTTON = "<!doctype html><title>Page</title><button onclick='strike()'>Go</button>"
PAGES = {
    "never-ends": f"{BUTTON}<script>function strike() {{ for (;;); }}</script>",
    "never-ends-at-once": f"{BUTTON}<script>for (;;);</script>",
}


async def respond(path: str) -> Answer:
    return Answer(PAGES.get(unquote(path).strip("/"), ""))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("page", "end", "reward"),
    [
        ("never-ends", End.PAGE_BROKEN, 0.0),
        ("never-ends-at-once", End.CRASHED, None),
    ],
)
async def test_a_click_that_breaks_its_page_is_a_failure_and_an_unusable_start_page_is_not(
    page: str, end: End, reward: float | None
) -> None:
    async with serve(respond) as site, Browser({"site.localhost": site.address}, timeout_s=5.0) as browser:
        start = f"http://site.localhost/{page}"
        task = Task(page, "site", "test", ("site",), page, "Click.", start, (PageCheck(("Page",)),))
        policy = FixedPolicy("clicks", ['do(action="Click", element="0")', 'exit(message="")'])
        agent = Agent(policy, PromptBuilder(None, "plain", "short"), Limits(max_turns=3, max_new_tokens=64))
        trajectory = await run_episode(page, task, 0, agent, SiteVenue(browser))
    assert (trajectory.end, trajectory.reward) == (end, reward), trajectory.error
    if end is End.CRASHED:
        assert (trajectory.error or "").startswith("PageError: ")
