"""Film: a stored episode as an animated picture, for a README or a talk. Pictures it lacks are drawn by replay."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from clickgrad.backends.venues import open_venue, universe_of
from clickgrad.browser.chromium import require_chromium
from clickgrad.browser.process import ChromiumProcess
from clickgrad.config import Config
from clickgrad.errors import BrowserError, UserError, boundary
from clickgrad.live.drawing import draw, find_episode, pictures_of, run_config, stored_picture
from clickgrad.live.webp import animate
from clickgrad.report.page import environment
from clickgrad.report.strips import Scene, scenes_of
from clickgrad.tasks.telling import names_of, tell
from clickgrad.types import Outcome, Trajectory

SIZE = (960, 660)
BEFORE_MS, AFTER_MS, END_MS = 900, 1700, 3500  # a page, the same with what is about to be used, the verdict
LAUNCH_S, FRAME_S = 30.0, 20.0
QUALITY = 60


@dataclass(frozen=True, slots=True)
class Frame:
    scene: Scene
    number: int
    shows_action: bool
    verdict: str = ""
    outcome: str = ""
    duration_ms: int = BEFORE_MS


async def film(config: Config, file: Path, episode: str | None, out: Path | None) -> Path:
    """Returns the file written: `out`, or one beside the trajectories, named after the task."""
    trajectory = find_episode(file, episode)
    if not trajectory.turns:
        raise UserError(f"{trajectory.episode} has no turns: there is nothing to film")
    config = run_config(file, config)
    folder = pictures_of(file)
    if any(stored_picture(trajectory, number, folder) is None for number in range(len(trajectory.turns))):
        async with open_venue(config) as venue:
            await draw(trajectory, venue, folder)
    target = out or pictures_of(file).parent / f"{trajectory.task.id.replace('/', '-')}.webp"
    if target.suffix != ".webp":
        raise UserError(f"--out {target}: an animated picture is written as .webp")
    frames = list(_frames(trajectory, folder, universe_of(config)))
    pictures = await _photograph(trajectory, frames)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(animate([(one, frame.duration_ms) for one, frame in zip(pictures, frames, strict=True)], SIZE))
    return target


def _frames(trajectory: Trajectory, folder: Path, universe: int | None) -> Iterator[Frame]:
    scenes = scenes_of(trajectory, folder)
    for number, scene in enumerate(scenes, 1):
        yield Frame(scene, number, shows_action=False)
        yield Frame(scene, number, shows_action=True, duration_ms=AFTER_MS)
    outcome = trajectory.verdict.outcome
    words = tell(trajectory.task, trajectory.evidence, None if universe is None else names_of(universe))
    word = {Outcome.PASSED: "Passed", Outcome.FAILED: "Failed", Outcome.UNJUDGED: "No verdict"}[outcome]
    last = replace(Frame(scenes[-1], len(scenes), shows_action=True), verdict=f"{word}. {words}".strip())
    yield replace(last, outcome=outcome.value, duration_ms=END_MS)


async def _photograph(trajectory: Trajectory, frames: list[Frame]) -> list[bytes]:
    """Laid out by Chromium, without scripts and without a network: what a page wrote is text and pictures only."""
    process = await ChromiumProcess.launch(require_chromium(), {}, LAUNCH_S)
    try:
        with boundary(BrowserError, "drawing the film"):
            context = await process.browser.new_context(
                viewport={"width": SIZE[0], "height": SIZE[1]}, java_script_enabled=False, offline=True
            )
            page = await context.new_page()
            protocol = await context.new_cdp_session(page)
            pictures = []
            for frame in frames:
                async with asyncio.timeout(FRAME_S):
                    await page.set_content(_html(trajectory, frame), wait_until="load")
                    shot = await protocol.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
                pictures.append(b64decode(shot["data"]))
            return pictures
    finally:
        await process.end()


def _html(trajectory: Trajectory, frame: Frame) -> str:
    return (
        environment()
        .get_template("film.html")
        .render(task=trajectory.task, policy=trajectory.policy, frame=frame, turns=len(trajectory.turns))
    )
