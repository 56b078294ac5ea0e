"""Agents and people at work, for somebody who looks on: watch, demo, record, film, view."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from clickgrad.cli.declaring import DONE, command, option, policies_of, recipe

if TYPE_CHECKING:  # pydantic is too slow for --help
    from clickgrad.config import Config
    from clickgrad.live.showing import Show

SERVER = (
    option("--port", type=int, default=8420, help="default: 8420; 0 takes any free one"),
    option("--host", default="127.0.0.1", help="address to listen on (default: this machine only)"),
    option("--no-open", action="store_true", help="open no browser"),
)
SHOW = (
    *SERVER,
    option("--once", action="store_true", help="end after the first verdict"),
    option(
        "--pace", type=float, default=0.8, metavar="S", help="seconds between a reply and its action (default: 0.8)"
    ),
)
SUITE = option(
    "--suite",
    dest="set",
    action="append",
    type=lambda name: f"tasks.suite={name}",
    metavar="S",
    help="a suite, a JSON file of tasks, or a folder of your own (short for --set tasks.suite=S)",
)


def _show(options: argparse.Namespace) -> Show:
    from clickgrad.live.showing import Show

    return Show(options.host, options.port, not options.no_open, options.once, max(0.0, options.pace))


@recipe(
    "demo",
    "a trained policy at work in your browser, without training anything",
    option("--policy", metavar="P", help="as for evaluate (default: the one that ships with clickgrad)"),
    *SHOW,
    preset="quick",
)
async def demo(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.live.demo import demo, demo_policy
    from clickgrad.live.showing import verdict_lines

    return verdict_lines(await demo(config, demo_policy(options.policy), options.run, _show(options)))


@recipe(
    "watch",
    "an agent at work on a task, live in your browser; or two side by side",
    option("task", nargs="?", metavar="TASK", help="id of a task (default: the first of the suite)"),
    option("--policy", action="append", metavar="P", help="as for evaluate; a second one plays beside it"),
    SUITE,
    *SHOW,
)
async def watch(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.live.showing import verdict_lines
    from clickgrad.live.watch import watch

    policies = policies_of(config, options)
    return verdict_lines(await watch(config, options.task, policies, options.run, _show(options)))


@recipe(
    "record",
    "do a task yourself, in your browser: the episode is a demonstration",
    option("--task", metavar="T", help="id of a task (default: you choose on the page)"),
    option("--policy", metavar="P", help="beat the agent: this one does the same task beside you"),
    option(
        "--out",
        type=Path,
        default=Path("runs/record/demos.jsonl.zst"),
        metavar="FILE",
        help="trajectory file to append to (default: runs/record/demos.jsonl.zst)",
    ),
    SUITE,
    *SHOW,
    run_folder=False,
)
async def record(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.backends.policies import parse_policy
    from clickgrad.live.record import record
    from clickgrad.live.showing import verdict_lines

    rival = parse_policy(options.policy) if options.policy else None
    return verdict_lines(await record(config, options.task, rival, options.out, _show(options)))


@recipe(
    "film",
    "an animated picture of a stored episode, for a README or a talk",
    option("file", type=Path, metavar="FILE", help="trajectory file, *.jsonl.zst"),
    option("--episode", metavar="E", help="name of an episode, or id of its task (default: the first)"),
    option("--out", type=Path, metavar="FILE", help="*.webp (default: in the run's folder, by its task)"),
    run_folder=False,
)
async def film(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.live.film import film

    written = await film(config, options.file, options.episode, options.out)
    return f"{written} ({written.stat().st_size / 1000:.0f} kB)"


@command(
    "view",
    "look at runs in your own browser",
    option("run", type=Path, metavar="RUN", help="a run folder, or a folder of runs"),
    *SERVER,
)
def view(options: argparse.Namespace) -> int:
    from clickgrad.config import load_config
    from clickgrad.live.drawing import Drawer
    from clickgrad.report.viewer.server import Extras, view

    extras = Extras(Drawer(load_config(None, [], "replay")).draw)
    view(options.run, options.host, options.port, extras, not options.no_open)
    return DONE
