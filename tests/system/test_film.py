"""Pictures drawn later, in the viewer, and an animated one of an episode."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import run
from looking import serving, watched_page

from clickgrad.live.film import SIZE
from clickgrad.rollout.store import TrajectoryFile

if TYPE_CHECKING:
    from playwright.sync_api import Browser


FILE = "run/trajectories/evaluate.jsonl.zst"


@pytest.mark.timeout(400)
def test_missing_pictures_are_drawn_by_playing_an_episode_again_in_the_viewer_and_for_a_film(
    tmp_path: Path, chromium: Browser
) -> None:
    evaluate = ["evaluate", "--policy", "scripted:expert", "--run", "run", "--set", "evaluate.limit=2"]
    assert run([*evaluate, "--set", "evaluate.pictures=false"], tmp_path).returncode == 0
    pictures = tmp_path / "run" / "screenshots"
    assert not pictures.exists()
    viewed, filmed = TrajectoryFile(tmp_path / FILE).read()
    with serving(tmp_path / "run") as address, watched_page(chromium, address) as page:
        page.goto(f"{address}/#/episode?a=trajectories/evaluate.jsonl.zst@0")
        page.click("button.draw")
        page.wait_for_selector(".screen img", timeout=180_000)
    assert len(list(pictures.glob("*.jpg"))) == len(viewed.turns)

    told = run(["film", FILE, "--episode", filmed.task.id, "--out", "film.webp"], tmp_path)
    assert told.returncode == 0, told.stderr
    assert len(list(pictures.glob("*.jpg"))) == len(viewed.turns) + len(filmed.turns)
    film = (tmp_path / "film.webp").read_bytes()
    assert film.count(b"ANMF") == 2 * len(filmed.turns) + 1  # a page and its action for every turn, and the verdict
    page = chromium.new_page()
    page.set_content(f"<img src='data:image/webp;base64,{b64encode(film).decode()}'>")
    assert page.evaluate("document.images[0].decode().then(() => document.images[0].naturalWidth)") == SIZE[0]
    page.close()
    again = run(["film", FILE, "--out", "film.gif"], tmp_path)
    assert (again.returncode, again.stderr) == (
        2,
        "clickgrad: --out film.gif: an animated picture is written as .webp\n",
    )
