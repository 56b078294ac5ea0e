"""An animated picture of a stored episode, drawn anew where its pictures are missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import call

from clickgrad.rollout.store import TrajectoryFile


@pytest.mark.timeout(120)
def test_a_film_is_made_of_a_stored_episode_whose_pictures_are_drawn_by_playing_it_again(tmp_path: Path) -> None:
    evaluate = ["evaluate", "--policy", "scripted:expert", "--run", "run", "--set", "evaluate.limit=1"]
    assert call([*evaluate, "--set", "evaluate.pictures=false"], tmp_path).returncode == 0
    assert not (tmp_path / "run" / "screenshots").exists()
    file = "run/trajectories/evaluate.jsonl.zst"
    told = call(["film", file, "--out", "film.webp"], tmp_path)
    assert told.returncode == 0, told.stderr
    (episode,) = TrajectoryFile(tmp_path / file).read()
    film = (tmp_path / "film.webp").read_bytes()
    # A page and its action for every turn, and the verdict.
    assert film.count(b"ANMF") == 2 * len(episode.turns) + 1
    assert len(list((tmp_path / "run" / "screenshots").glob("*.jpg"))) == len(episode.turns)
    again = call(["film", file, "--out", "film.gif"], tmp_path)
    assert (again.returncode, again.stderr) == (
        2,
        "clickgrad: --out film.gif: an animated picture is written as .webp\n",
    )
