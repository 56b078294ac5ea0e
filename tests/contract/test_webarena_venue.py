"""WebArena's venue in Chromium, on doubles of three sites: what it needs of real ones is their forms and pages."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fake_endpoint import FakeEndpoint, reply, serving
from webarena_double import NAME, PASSWORD, Doubles

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import Browser, find_chromium
from clickgrad.errors import BrowserError, UserError
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.rollout.episode import Agent, Limits, run_episode
from clickgrad.rollout.webarena_services import Judge
from clickgrad.rollout.webarena_venue import WebArenaVenue
from clickgrad.tasks.webarena.sites import Account, Hosting, Sites, read_sites
from clickgrad.types import Check, End, Outcome, Search, Task, Trajectory
from clickgrad.webarena import AnswerRule, Probe, ProgramHtml, StringMatch, Target, UrlMatch

pytestmark = pytest.mark.anyio

POST = "/f/books/7/a-title"
POST_CALL = "func:reddit_get_post_url('__last_url__')"


@pytest.fixture(scope="module")
def doubles() -> Doubles:
    return Doubles()


@pytest.fixture(scope="module")
def sites(doubles: Doubles) -> Iterator[Sites]:
    if find_chromium() is None:
        pytest.skip("no Chromium on this machine")
    with doubles.serve() as variables:
        yield read_sites(variables)


@pytest.fixture(scope="module")
async def browser(sites: Sites) -> AsyncIterator[Browser]:
    async with Browser({host: host for host in sites.hosts}, timeout_s=30.0) as browser:
        yield browser


@pytest.fixture
def task_at(sites: Sites) -> Callable[..., Task]:
    def make(url: str, *checks: Check, on: tuple[str, ...] = ("shopping",)) -> Task:
        return Task("webarena.0", "webarena", "test", on, "1", "Do it", sites.fill(url), checks)

    return make


@pytest.fixture
def venue(sites: Sites, browser: Browser) -> WebArenaVenue:
    return WebArenaVenue(sites, Hosting(), browser)


async def probed(venue: WebArenaVenue, task: Task) -> tuple[str | None, ...]:
    async with venue.open(task) as visit:
        evidence = await visit.evidence(None)
    assert [(probe.url, probe.locator) for probe in evidence.probes] == [
        (target.url, target.locator)
        for check in task.checks
        if isinstance(check, ProgramHtml)
        for target in check.targets
    ]
    return tuple(probe.text for probe in evidence.probes)


def at(url: str, locator: str, *expected: str, prepare: tuple[str, ...] = ()) -> Target:
    return Target(url, locator, "must_include", expected, prepare)


async def test_every_session_is_logged_in_by_one_log_in(
    venue: WebArenaVenue, doubles: Doubles, task_at: Callable[..., Task]
) -> None:
    before = doubles.shop.logins

    async def title() -> str:
        async with venue.open(task_at("__SHOPPING__")) as visit:
            return "\n".join((await visit.session.observe()).lines)

    for lines in await asyncio.gather(title(), title(), title()):
        assert f"Welcome, {NAME}" in lines
    assert doubles.shop.logins == before + 1


async def test_a_log_in_is_kept_in_files_that_nobody_else_can_read(
    sites: Sites, browser: Browser, doubles: Doubles, task_at: Callable[..., Task], tmp_path: Path
) -> None:
    folder = tmp_path / "logins"
    before = doubles.code.logins
    task = task_at("__GITLAB__", on=("gitlab",))
    for _ in range(2):
        async with WebArenaVenue(sites, Hosting(login_folder=folder), browser).open(task) as visit:
            assert f"Welcome, {NAME}" in "\n".join((await visit.session.observe()).lines)
    assert doubles.code.logins == before + 1
    file = folder / "gitlab_state.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert PASSWORD not in file.read_text()
    doubles.code.reset()  # now the stored log-in is stale, so it has to be made again
    async with WebArenaVenue(sites, Hosting(login_folder=folder), browser).open(task) as visit:
        assert f"Welcome, {NAME}" in "\n".join((await visit.session.observe()).lines)
    assert doubles.code.logins == before + 2


async def test_a_refused_log_in_names_the_variables_and_not_the_password(
    sites: Sites, browser: Browser, task_at: Callable[..., Task]
) -> None:
    wrong = replace(sites, accounts=sites.accounts | {"reddit": Account("emma", "wr0ng")})
    with pytest.raises(UserError, match="WA_REDDIT_USERNAME and WA_REDDIT_PASSWORD") as refused:
        async with WebArenaVenue(wrong, Hosting(), browser).open(task_at("__REDDIT__", on=("reddit",))):
            pass
    assert "wr0ng" not in str(refused.value) + repr(wrong)


async def test_pages_are_looked_at_when_the_episode_is_over(
    venue: WebArenaVenue, sites: Sites, task_at: Callable[..., Task]
) -> None:
    check = ProgramHtml(
        (
            at("last", "document.querySelector('h1').outerText"),
            at("last", "document.querySelector('.none').outerText"),
            at("last", "document.querySelector('.none')"),
            at("last", "", prepare=()),
            at(
                sites.fill("__SHOPPING__/cart"),
                "document.querySelector('.cart').outerText",
                prepare=(
                    "document.querySelector('.cart').append(' and more')",
                    "nonsense.here",
                    "document.body.remove()",
                ),
            ),
            at("func:shopping_get_latest_order_url()", "document.querySelector('.status').outerText"),
            at("last", "func:shopping_get_sku_latest_review_author('B01')"),
            at("last", "func:shopping_get_sku_latest_review_rating('B01')"),
            at("last", "func:shopping_get_sku_latest_review_rating('B02')"),
            at("last", "document.title"),
        ),
        "webarena",
    )
    found = await probed(venue, task_at("__SHOPPING__", check))
    assert found[:3] == (f"Welcome, {NAME}", "", "None")
    assert found[3] is not None
    assert found[3].startswith("<!DOCTYPE html>")
    assert found[4:] == ("2 items & a gift and more", "Order 190: pending", "Emma", "80", "", "Home")


async def test_a_members_role_is_read_from_the_row_of_that_member(
    venue: WebArenaVenue, sites: Sites, task_at: Callable[..., Task]
) -> None:
    page = sites.fill("__GITLAB__/byteblaze/dotfiles/-/project_members")
    targets = tuple(at(page, f"func:gitlab_get_project_memeber_role(__page__, '{name}')") for name in ("vinta", "bob"))
    assert await probed(venue, task_at("__GITLAB__", ProgramHtml(targets, "webarena"), on=("gitlab",))) == ("Guest", "")


@pytest.mark.parametrize(("dialect", "last"), [("webarena", "Home"), ("lite", "Cart")])
async def test_the_dialects_differ_in_where_they_are_after_looking(
    venue: WebArenaVenue, sites: Sites, task_at: Callable[..., Task], dialect: str, last: str
) -> None:
    targets = (at(sites.fill("__SHOPPING__/cart"), "document.title"), at("last", "document.title"))
    check = ProgramHtml(targets, "lite" if dialect == "lite" else "webarena")
    assert await probed(venue, task_at("__SHOPPING__", check)) == ("Cart", last)


async def test_a_script_that_never_ends_is_a_failure_of_the_machinery(
    sites: Sites, browser: Browser, task_at: Callable[..., Task]
) -> None:
    endless = ProgramHtml((at("last", "document.querySelectorAll('*').forEach(() => { while (true); })"),), "webarena")
    async with WebArenaVenue(sites, Hosting(), browser, look_s=1.0).open(task_at("__SHOPPING__", endless)) as visit:
        with pytest.raises(BrowserError, match="script of a check"):
            await visit.evidence(None)


async def test_an_episode_on_the_forum_is_judged_by_what_it_wrote(
    sites: Sites, browser: Browser, doubles: Doubles, task_at: Callable[..., Task]
) -> None:
    venue = WebArenaVenue(sites, Hosting(), browser)
    check = ProgramHtml((at(POST_CALL, "document.querySelector('.comment').outerText", "well said"),), "webarena")
    task = task_at(f"__REDDIT__{POST}", check, UrlMatch((sites.fill("__REDDIT__/f/books/7"),)), on=("reddit",))
    passed = await play(venue, task, 'do(action="Search", argument="Well said", element="0")', 'exit(message="")')
    assert (passed.verdict.outcome, passed.reward) == (Outcome.PASSED, 1.0)
    doubles.forum.written.clear()
    failed = await play(venue, task, 'exit(message="")')
    assert (failed.verdict.outcome, failed.reward) == (Outcome.FAILED, 0.0)
    assert failed.evidence is not None
    assert failed.evidence.probes == (Probe(POST_CALL, check.targets[0].locator, ""),)


async def test_a_task_that_takes_a_judge_has_no_reward_without_one(
    venue: WebArenaVenue, task_at: Callable[..., Task]
) -> None:
    task = task_at("__SHOPPING__", StringMatch((AnswerRule("fuzzy_match", ("two",)),)))
    for answer in ("two", "N/A", "three"):
        trajectory = await play(venue, task, f'exit(message="{answer}")')
        assert (trajectory.verdict.outcome, trajectory.reward) == (Outcome.UNJUDGED, None)


async def test_a_judge_is_asked_when_the_episode_is_over(
    sites: Sites, browser: Browser, task_at: Callable[..., Task]
) -> None:
    task = task_at("__SHOPPING__", StringMatch((AnswerRule("fuzzy_match", ("two",)),)))
    with serving(FakeEndpoint(reply("correct"), reply("incorrect"))) as endpoint:
        venue = WebArenaVenue(sites, Hosting(), browser, Judge(endpoint.url, "reader"))
        rewards = [(await play(venue, task, 'exit(message="a pair")')).reward for _ in range(2)]
    assert rewards == [1.0, 0.0]
    assert "a pair" in endpoint.bodies[0]["messages"][-1]["content"]


async def test_a_task_on_two_sites_is_logged_in_on_both_and_has_the_homepage_behind(
    venue: WebArenaVenue, task_at: Callable[..., Task]
) -> None:
    async with venue.open(task_at("__GITLAB__", on=("gitlab", "reddit"))) as visit:
        observation = await visit.session.observe()
    assert observation.tabs[0] == "Home"
    assert len(observation.tabs) == 2


async def test_sites_are_put_back_before_the_first_episode_and_after_every_so_many(
    sites: Sites, browser: Browser, doubles: Doubles, task_at: Callable[..., Task]
) -> None:
    hosting = Hosting(reset_url=sites.urls["shopping"], reset_every=2)
    venue, before = WebArenaVenue(sites, hosting, browser, status_every_s=0.01), doubles.resets
    task = task_at(f"__REDDIT__{POST}", on=("reddit",))
    seen = []
    for _ in range(3):
        async with venue.open(task) as visit:
            seen.append((doubles.resets - before, len(doubles.forum.written)))
            await visit.session.observe()
            await visit.session.perform(Search(0, "mine"))
    assert seen == [(1, 0), (1, 1), (2, 0)]


async def test_no_more_sessions_than_allowed_are_on_a_site_at_once(
    sites: Sites, browser: Browser, task_at: Callable[..., Task]
) -> None:
    venue = WebArenaVenue(sites, Hosting(sessions_per_site=1), browser)
    inside, most = 0, 0

    async def visit() -> None:
        nonlocal inside, most
        async with venue.open(task_at("__SHOPPING__")):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.05)
            inside -= 1

    await asyncio.gather(visit(), visit(), visit())
    assert most == 1


async def play(venue: WebArenaVenue, task: Task, *replies: str) -> Trajectory:
    agent = Agent(FixedPolicy("fixed", replies), PromptBuilder(None, "plain"), Limits(max_turns=4, max_new_tokens=32))
    trajectory = await run_episode("e", task, 7, agent, venue)
    assert trajectory.end is not End.CRASHED, trajectory.error
    return trajectory
