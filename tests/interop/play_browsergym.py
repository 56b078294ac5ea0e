"""The episodes of ours.py through BrowserGym: the same actions in its words, on the same elements."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import gymnasium
import playwright
from playing import main

from clickgrad.browser.chromium import require_chromium
from clickgrad.interop.browsergym_tasks import register

Box = tuple[float, float, float, float]
PROGRAM = str(require_chromium())
OPTIONS = {"pw_chromium_kwargs": {"executable_path": PROGRAM, "chromium_sandbox": False}, "disable_env_checker": True}


def offer_chromium() -> None:
    """BrowserGym's chat window takes only Playwright's own browser."""
    listed = json.loads((Path(playwright.__file__).parent / "driver" / "package" / "browsers.json").read_text())
    revision = next(one["revision"] for one in listed["browsers"] if one["name"] == "chromium")
    folder = Path(tempfile.mkdtemp(prefix="browsergym-"))
    program = folder / f"chromium-{revision}" / "chrome-linux" / "chrome"
    program.parent.mkdir(parents=True)
    program.symlink_to(PROGRAM)
    os.environ["PLAYWRIGHT_BROWSERS_PATH"] = str(folder)


def overlap(one: Box, other: Box) -> float:
    """Intersection over union."""
    wide = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    high = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    common = max(0.0, wide) * max(0.0, high)
    return common / (one[2] * one[3] + other[2] * other[3] - common or 1.0)


def element_of(turn: dict[str, Any], observation: dict[str, Any]) -> str:
    """By its name, and by its place among those of the same name or where none has it. The old Playwright's viewport
    shrinks under a new Chromium, so places alone do not tell."""
    places = {bid: one["bbox"] for bid, one in observation["extra_element_properties"].items() if one["bbox"]}
    nodes = [node for node in observation["axtree_object"]["nodes"] if node.get("browsergym_id") in places]
    named = [node["browsergym_id"] for node in nodes if node.get("name", {}).get("value", "").strip() == turn["name"]]
    return max(named or places, key=lambda bid: (overlap(turn["box"], places[bid]), bid))


def in_its_words(turn: dict[str, Any], observation: dict[str, Any]) -> str:
    bid = element_of(turn, observation) if turn["box"] else ""
    match turn["kind"]:
        case "Click":
            return f"click({bid!r})"
        case "Type":
            return f"fill({bid!r}, {turn['text']!r})"
        case "Search":
            return f"fill({bid!r}, {turn['text']!r})\npress({bid!r}, 'Enter')"
        case "Select":
            return f"select_option({bid!r}, {turn['text']!r})"
        case "Exit":
            return f"send_msg_to_user({turn['text']!r})"
    raise AssertionError(f"no words for {turn['kind']}")


def play(episodes: list[dict[str, Any]]) -> list[float | None]:
    register(episodes[0]["suite"], "test")
    return [play_one(episode) for episode in episodes]


def play_one(episode: dict[str, Any]) -> float:
    env = gymnasium.make(f"browsergym/clickgrad.{episode['task']}", **OPTIONS)
    try:
        observation, _ = env.reset()
        assert observation["goal"] == episode["intent"]
        reward, over = 0.0, False
        for turn in episode["turns"]:
            assert not over, "it ended early"
            observation, reward, over, _, _ = env.step(in_its_words(turn, observation))
            assert not observation["last_action_error"], observation["last_action_error"]
        assert over
        return float(reward)
    finally:
        env.close()


def two_at_once(episode: dict[str, Any]) -> list[float | None]:
    name = f"browsergym/clickgrad.{episode['task']}"
    other = gymnasium.make(name, **OPTIONS)
    try:
        before, _ = other.reset()
        done = play_one(episode)
        after, _, over, _, _ = other.step("noop(1)")
        assert not over
        assert (before["url"], len(before["axtree_object"]["nodes"])) == (
            after["url"],
            len(after["axtree_object"]["nodes"]),
        )
        _, outside, _, _, _ = other.step("goto('http://example.com/')")
        assert outside == 0.0
        return [done, float(other.step("send_msg_to_user('')")[1])]
    finally:
        other.close()


if __name__ == "__main__":
    offer_chromium()
    main(play, two_at_once)
