"""What our own rollouts earn: 10 tasks by their experts and by doing nothing, for other interfaces to repeat.

    PYTHONPATH=src .venv/bin/python tests/interop/ours.py episodes.json

Every turn is kept as the reply, and as the action with the name and place of its element: whoever numbers elements in
another way finds it by that.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import clickgrad
from clickgrad.types import Task, Trajectory, Turn

POCKET = (
    "shop.wish_list",
    "shop.add_to_cart",
    "forum.subscribe",
    "code.star_or_fork",
    "code.issue_fact",
    "admin.open_grid",
    "map.nearest",
)
MINIWOB = ("click-button", "enter-text", "click-test-2")


def chosen() -> list[Task]:
    """Of each template the shortest, by name where several are."""
    tasks = [*clickgrad.load_tasks("pocket", "test"), *clickgrad.load_tasks("miniwob", "test")]
    of = {name: [task for task in tasks if task.template == name] for name in POCKET + MINIWOB}
    return [min(found, key=lambda task: (task.expert_turns or 0, task.id)) for found in of.values()]


def as_told(turn: Turn) -> dict[str, Any]:
    action = turn.action
    element = getattr(action, "element", None)
    there = next((one for one in turn.observation.elements if one.id == element), None)
    text = next((getattr(action, name) for name in ("text", "option", "message") if hasattr(action, name)), "")
    return {
        "reply": turn.completion.text,
        "kind": type(action).__name__,
        "box": there.box if there else None,
        "name": there.name if there else "",
        "text": text,
    }


def as_episode(played: Trajectory, suite: str) -> dict[str, Any]:
    turns = [as_told(turn) for turn in played.turns]
    task = {"suite": suite, "task": played.task.id, "intent": played.task.intent}
    return task | {"policy": played.policy, "reward": played.reward, "turns": turns}


def main(out: Path) -> None:
    episodes = []
    for suite in ("pocket", "miniwob"):
        tasks = [task for task in chosen() if task.suite == suite]
        config = clickgrad.load_config(
            None, [f"tasks.suite={suite}", "agent.reply_format=plain", "agent.max_turns=8"], "evaluate"
        )
        for policy in ("scripted:expert", "scripted:noop"):
            episodes += [as_episode(played, suite) for played in clickgrad.play(config, policy, tasks)]
    out.write_text(json.dumps(episodes, indent=1))
    print(json.dumps({"episodes": len(episodes), "rewards": [episode["reward"] for episode in episodes]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
