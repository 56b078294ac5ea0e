"""What the pages tell the server, told here by hand."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from clickgrad.worlds.miniwob import HOST, Game, Miniwob, page_names, page_url


@pytest.fixture(scope="module")
def pages() -> Iterator[Miniwob]:
    with Miniwob() as pages:
        yield pages


def address(pages: Miniwob, path: str) -> str:
    return f"http://{pages.hosts[HOST]}{path}"


def tell(pages: Miniwob, game: Game, **facts: object) -> int:
    return httpx.post(address(pages, "/told"), json=facts, headers=game.headers).status_code


def test_there_are_all_pages_of_the_package() -> None:
    assert len(page_names()) == 130
    assert "click-button" in page_names()


def test_a_page_is_served_in_one_piece_its_core_with_our_start(pages: Miniwob) -> None:
    text = httpx.get(address(pages, urlsplit(page_url("click-button", 3)).path)).text
    assert "<script src" not in text
    core, start = text.index("core.startEpisodeReal = "), text.index("tell({ reward: WOB_RAW_REWARD_GLOBAL })")
    assert core < start < text.index("var genProblem")
    assert httpx.get(address(pages, "/miniwob/nothing.html")).status_code == 404


def test_a_game_knows_what_its_own_page_told(pages: Miniwob) -> None:
    one, other = pages.begin(), pages.begin()
    assert tell(pages, one, utterance="Click the button.") == 204
    assert tell(pages, one, reward=0.5) == 204
    assert (one.utterance, one.reward, one.started.is_set()) == ("Click the button.", 0.5, True)
    assert (other.utterance, other.reward, other.started.is_set()) == ("", None, False)


def test_the_first_end_is_the_one_that_counts(pages: Miniwob) -> None:
    game = pages.begin()
    tell(pages, game, reward=-1)
    tell(pages, game, reward=1)
    assert game.reward == -1.0


def test_a_forgotten_game_is_told_nothing(pages: Miniwob) -> None:
    game = pages.begin()
    pages.forget(game)
    assert tell(pages, game, reward=1) == 421
    assert game.reward is None
