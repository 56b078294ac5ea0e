"""What is disturbed: three small runs of the command line, each in a folder of its own.

`arena` trains from demonstrations to reinforcement on Pocket Arena, `site` evaluates on a site of one's own whose pages
can turn hostile, `cluster` evaluates on workers of Ray.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clickgrad.codec import to_plain
from clickgrad.tasks.suites import load_tasks
from clickgrad.types import AnswerCheck, StateCheck

INTENT = "Toss a coin."
HOSTILE = "This page is hostile."
GROUPS, SIZE = 3, 4
TESTS = 48
COMMON = {
    "seed": 0,
    "tasks.seed": 0,
    "model.threads": 1,
    "agent.system": "short",
    "agent.page_tokens": 200,
    "agent.max_turns": 6,
    "agent.max_new_tokens": 24,
    "rollout.concurrency": 8,
    "rollout.reply_s": 20.0,
    "rollout.episode_s": 120.0,
}
APP = '''
import argparse, os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CONTROL = Path(os.environ["CLICKGRAD_CHAOS"])
CALM = """<!doctype html><title>Coins</title><a href="/">Home</a>
<form action="/found"><input name="q" aria-label="Search"></form><p>Toss a coin. Page %s is calm.</p>"""
TRICKS = {
    "page-hang": "for (;;);",
    "page-flood": "setInterval(() => { for (let i = 0; i < 2000; i++) document.body.append(new Text('flood')); }, 0);"
    "setInterval(() => history.pushState(0, '', '/' + Math.random()), 0)",
    # Deeper than the layout's stack: the renderer ends.
    "page-crash": "let at = document.body; for (let i = 0; i < 1e5; i++)"
    "at = at.appendChild(document.createElement('p')); at.append('deep'); document.body.offsetHeight",
}


class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        page = CALM % self.path.partition("?")[0]
        if "Mozilla" in self.headers.get("User-Agent", ""):  # not for those who only ask whether the site is up
            for name, script in TRICKS.items():
                try:
                    os.unlink(CONTROL / name)
                except OSError:
                    continue
                page += "<p>This page is hostile.</p><script>" + script + "</script>"
        self.answer(page)

    def do_POST(self):
        self.answer("")

    def answer(self, page):
        body = page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int)
ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Pages).serve_forever()
'''
SITE = """
name = "coins"
start = "{python} app.py --port {port}"
instances = 2
reset_url = "/reset"
"""


@dataclass(frozen=True, slots=True)
class Scene:
    name: str
    words: tuple[str, ...]  # of the command line, without `--run`
    suite: Path
    episodes: int  # that it plays when nothing breaks
    trains: bool = False

    @property
    def replay_words(self) -> tuple[str, ...]:
        return sets({"tasks.suite": self.suite, "tasks.seed": 0, "agent.page_tokens": 200, "rollout.concurrency": 2})


def make_scenes(place: Path, model: Path, episodes: int, names: Sequence[str]) -> list[Scene]:
    """As many episodes as wanted, most of them in training, shared out among the scenes that are wanted."""
    shares = {"arena": 0.76, "site": 0.20, "cluster": 0.04}
    whole = sum(shares[name] for name in names)
    build = {"arena": _arena, "site": _site, "cluster": _cluster}
    return [build[name](place, model, max(4, round(episodes * shares[name] / whole))) for name in names]


def _arena(place: Path, model: Path, episodes: int) -> Scene:
    suite = write_tasks(place / "tasks.json")
    limit = min(TESTS, max(2, episodes // 12))
    steps = max(1, round((episodes - 3 * limit) / (GROUPS * SIZE)))
    settings = COMMON | {
        "tasks.suite": suite,
        "tasks.templates": "[]",
        "tasks.max_expert_turns": 0,
        "tasks.each": "{}",
        "model.path": model,
        "lora.rank": 0,
        "clone.lr": 1e-6,
        "clone.epochs": 2,
        "clone.batch": 4,
        "clone.save_every": 1,
        "reinforce.steps": steps,
        "reinforce.groups": GROUPS,
        "reinforce.group_size": SIZE,
        "reinforce.temperature": 1.0,
        "reinforce.lr": 1e-4,
        "reinforce.kl_beta": 0.01,
        "evaluate.limit": limit,
        "evaluate.temperature": 1.0,
        "train.start_limit": limit,
    }
    return Scene("arena", ("train", *sets(settings)), suite, 3 * limit + steps * GROUPS * SIZE, trains=True)


def _site(place: Path, model: Path, episodes: int) -> Scene:
    suite = place / "coins"
    suite.mkdir()
    (suite / "app.py").write_text(APP)
    (suite / "site.toml").write_text(SITE)
    tasks = [
        {
            "id": f"toss.{number}",
            "split": "test",
            "intent": INTENT,
            "checks": {"answer": ("heads", "tails")[number % 2]},
        }
        for number in range(episodes)
    ]
    (suite / "tasks.json").write_text(json.dumps(tasks))
    settings = COMMON | {"tasks.suite": suite, "evaluate.temperature": 1.0, "rollout.concurrency": 2}
    return Scene("site", ("evaluate", "--policy", f"torch:{model}", *sets(settings)), suite, episodes)


def _cluster(place: Path, model: Path, episodes: int) -> Scene:
    suite = write_tasks(place / "tasks.json")
    settings = COMMON | {
        "tasks.suite": suite,
        "evaluate.limit": min(TESTS, episodes),
        "evaluate.temperature": 1.0,
        "cluster.address": "local",
        "cluster.workers": 2,
        "cluster.worker_cpus": 0.4,
        "cluster.worker_episodes": 2,
        "cluster.engine_cpus": 0.4,
    }
    return Scene("cluster", ("evaluate", "--policy", f"torch:{model}", *sets(settings)), suite, min(TESTS, episodes))


def sets(settings: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(word for name, value in settings.items() for word in ("--set", f"{name}={value}"))


def write_tasks(path: Path) -> Path:
    """Demonstrations are real tasks of the shop, which experts can do; everything else tosses coins there."""
    simple = AnswerCheck | StateCheck
    demos = [
        to_plain(task)
        for task in load_tasks("pocket", "demo")
        if task.sites == ("shop",) and task.expert_turns == 2 and all(isinstance(one, simple) for one in task.checks)
    ]
    tosses = [_toss(number, "train") for number in range(12)] + [
        _toss(number, "test") for number in range(12, 12 + TESTS)
    ]
    path.write_text(json.dumps([*demos[:8], *tosses]))
    return path


def _toss(number: int, split: str) -> dict[str, Any]:
    """Plain, with no more fields than every version of the file has."""
    sides = ("heads", "tails")
    return {
        "id": f"toss.{number}",
        "suite": "toss",
        "split": split,
        "sites": ["shop"],
        "template": "toss",
        "intent": INTENT,
        "start_url": ("http://shop.localhost/", "http://shop.localhost/cart")[number // 2 % 2],
        "checks": [{"is": "AnswerCheck", "expected": [sides[number % 2]]}, {"is": "StateCheck", "changes": []}],
        "expert_turns": 1,
    }
