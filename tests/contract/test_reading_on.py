"""Pages that are longer than a prompt has tokens, in the fake and in Chromium: scrolling passes over nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tiny import make_task, tiny_tokenizer

from clickgrad.agent.prompt import ABOVE, CUT, PromptBuilder
from clickgrad.browser import Browser, FakeBrowser
from clickgrad.rollout.again import play_again
from clickgrad.rollout.episode import Agent, Limits, run_episode
from clickgrad.rollout.plain_venue import PlainVenue
from clickgrad.rollout.retell import retell
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Completion, End, Prompt, Sampling, ScrollDown, ScrollUp, Trajectory

pytestmark = pytest.mark.anyio

DOWN, UP = 'do(action="Scroll Down")', 'do(action="Scroll Up")'
LONG = replace(make_task(), start_url="http://shop.localhost/long")  # sixty items and a link, of which 18 are in view
PAGE_TOKENS = 64  # room for about a third of them


@pytest.fixture(params=["fake", "fake_html", "chromium"])
def venue(request: pytest.FixtureRequest) -> PlainVenue:
    browser = request.getfixturevalue(request.param)
    assert isinstance(browser, Browser | FakeBrowser)
    return PlainVenue(browser)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def builder() -> PromptBuilder:
    items = [f"Item {number}" for number in range(60)]
    lines = [*items, *(f"<p> {item} </p>" for item in items), "Page: shop.localhost/long", ABOVE, CUT]
    return PromptBuilder(tiny_tokenizer(lines * 5), "plain", "short", PAGE_TOKENS)


class Reader:
    """Scrolls down to the end and up to the beginning, in tokens as if it had sampled them; keeps what it was shown."""

    name, version = "reader", 0

    def __init__(self, builder: PromptBuilder) -> None:
        self._builder = builder
        self._replies = [DOWN, UP]
        self.shown: list[list[str]] = []

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        page = prompt.messages[-1].content
        self.shown.append(page[page.index("Page: ") :].split("\n"))
        if "does not scroll further" in page:
            self._replies.pop(0)
        return self._builder.reply(self._replies[0] if self._replies else 'exit(message="yes")')

    def forget(self, episode: str) -> None:
        pass

    def close(self) -> None:
        pass


async def read_through(venue: PlainVenue, builder: PromptBuilder) -> tuple[list[list[str]], Trajectory]:
    reader = Reader(builder)
    agent = Agent(reader, builder, Limits(max_turns=100, max_new_tokens=32))
    return reader.shown, await run_episode("e", LONG, 7, agent, venue)


def items(page: list[str]) -> list[int]:
    return [int(number) for number in re.findall(r"Item (\d+)", "\n".join(page))]


async def test_scrolling_down_shows_every_line_and_scrolling_up_comes_back(
    venue: PlainVenue, builder: PromptBuilder
) -> None:
    shown, trajectory = await read_through(venue, builder)
    assert trajectory.end is End.STOPPED
    assert all(items(page) == list(range(items(page)[0], items(page)[-1] + 1)) for page in shown if items(page))
    end = next(number for number, page in enumerate(shown) if any("further down" in line for line in page))
    seen = 0  # items seen so far, without a gap
    for page in shown[:end]:
        assert not items(page) or items(page)[0] <= seen
        seen = max([seen, *(number + 1 for number in items(page))])
    assert seen == 60
    assert any("The end" in line for page in shown[:end] for line in page)
    assert items(shown[-1])[0] == 0
    acted = [(type(turn.action), turn.paged) for turn in trajectory.turns]
    assert min(acted.count((scroll, paged)) for scroll in (ScrollDown, ScrollUp) for paged in (True, False)) > 0
    for page, turn in zip(shown, trajectory.turns, strict=True):
        around = 1 + bool(turn.observation.notice)
        assert turn.observation.first == 0 or page[around] == ABOVE
        assert len(page) < 18 + around


async def test_what_was_read_on_is_told_again_in_the_same_tokens_and_replays_to_the_same_pages(
    venue: PlainVenue, builder: PromptBuilder, tmp_path: Path
) -> None:
    _, trajectory = await read_through(venue, builder)
    file = TrajectoryFile(tmp_path / "t.jsonl.zst")
    file.append(trajectory)
    (stored,) = file.read()
    assert stored == trajectory
    told = retell(stored, builder)
    assert any(turn.observation.first for turn in told.turns)
    assert [turn.prompt_ids for turn in told.turns] == [turn.prompt_ids for turn in trajectory.turns]
    assert told.prompt_format == trajectory.prompt_format
    async with venue.open(stored.task) as visit:
        assert [number async for number in play_again(stored.turns, visit.session)] == [
            *range(1, len(stored.turns) + 1)
        ]
