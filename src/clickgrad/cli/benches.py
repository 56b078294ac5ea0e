"""`clickgrad bench PART`: what can be measured, with which options."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from clickgrad.cli.declaring import DONE, FAILED, AddOption, Command, command, option

JSON = option("--json", action="store_true", help="one JSON object for each measurement")


def bench(part: str, text: str, *options: AddOption) -> Callable[[Callable[[argparse.Namespace], int]], Command]:
    return command(f"bench {part}", text, JSON, *options)


def count(name: str, default: int, text: str) -> AddOption:
    return option(name, type=int, default=default, help=f"{text} (default: {default})")


@bench(
    "worlds",
    "forking worlds, serving pages, memory",
    count("--worlds", 200, "worlds kept alive at once"),
    count("--forks", 10_000, "forks one after the other"),
)
def worlds(options: argparse.Namespace) -> int:
    from clickgrad.bench.worlds import bench_worlds

    return _print(bench_worlds(options.worlds, options.forks, quiet=options.json), options)


@bench(
    "engine",
    "the torch engine against transformers, on a recorded crowd of episodes",
    option("--start", metavar="MODEL", default="smollm2", help="model or run folder that replies (default: smollm2)"),
)
def engine(options: argparse.Namespace) -> int:
    from clickgrad.bench.engine import bench_engine

    return _print(bench_engine(options.start, quiet=options.json), options)


@bench(
    "eyes",
    "what is told of pages against what everybody else says can be acted on there",
    option("--pages", type=Path, default=Path("tests/pages"), metavar="DIR", help="the zoo (default: tests/pages)"),
    option(
        "--libraries",
        type=Path,
        default=Path("~/.cache/clickgrad/npm"),
        metavar="DIR",
        help="of npm, that pages of the zoo ask for (default: ~/.cache/clickgrad/npm)",
    ),
    option("--suites", default="zoo,miniwob,pocket", metavar="A,B", help="of zoo, miniwob, pocket (default: all)"),
)
def eyes(options: argparse.Namespace) -> int:
    from clickgrad.bench.eyes import bench_eyes
    from clickgrad.bench.eyes_pages import Zoo

    zoo = Zoo(options.pages, options.libraries.expanduser())
    figures = bench_eyes(zoo, options.suites.split(","), quiet=options.json)
    print(json.dumps(figures.plain()) if options.json else figures.text())
    return DONE


@bench(
    "browser",
    "turns per second, every kind of action, many episodes on end",
    count("--episodes", 500, "one after the other, for memory"),
)
def browser(options: argparse.Namespace) -> int:
    from clickgrad.bench.browser import bench_browser

    return _print(bench_browser(options.episodes, quiet=options.json), options)


@bench(
    "pictures",
    "what a picture of every turn costs an evaluation",
    option("--config", metavar="F", help="a TOML file or a preset, as for evaluate"),
    option("--set", action="append", default=[], metavar="a.b=v", help="set one option; may be repeated"),
    option("--policy", metavar="P", default="scripted:expert", help="as for evaluate (default: scripted:expert)"),
    count("--rounds", 3, "of each kind, turn about; the median counts"),
)
def pictures(options: argparse.Namespace) -> int:
    from clickgrad.bench.pictures import bench_pictures
    from clickgrad.config import load_config

    config = load_config(options.config, options.set, "evaluate")
    return _print(bench_pictures(config, options.policy, options.rounds, quiet=options.json), options)


@bench(
    "cluster",
    "what Ray costs on one machine, against none",
    count("--episodes", 100, "measured in each round"),
    count("--repeat", 2, "rounds; the best counts"),
)
def cluster(options: argparse.Namespace) -> int:
    from clickgrad.bench.cluster import bench_cluster

    return _print(bench_cluster(options.episodes, options.repeat, quiet=options.json), options)


@bench(
    "chaos",
    "a small training run under a storm of faults, and what it did wrong",
    count("--episodes", 200, "of the run; a fault comes about every third"),
    count("--seed", 0, "of the storm"),
    option("--kinds", metavar="A,B", default="", help="only these kinds of faults (default: all)"),
    option("--source", type=Path, metavar="DIR", help="disturb the package in this folder, of another version"),
    option("--keep", type=Path, metavar="DIR", help="leave the run, its output and a journal here"),
    option("--patience", type=float, default=90.0, metavar="S", help="silence that is a hang (default: 90)"),
)
def chaos(options: argparse.Namespace) -> int:
    from clickgrad.bench.chaos.bench import ChaosOptions, bench_chaos
    from clickgrad.bench.chaos.figures import as_json

    kinds = tuple(filter(None, options.kinds.split(",")))
    wanted = ChaosOptions(options.episodes, options.seed, kinds, options.source, options.keep, options.patience)
    figures = bench_chaos(wanted, quiet=options.json)
    print(as_json(figures) if options.json else figures.text())
    return DONE if figures.clean else FAILED


@bench(
    "step",
    "one step of reinforcement: where its time goes",
    option("--config", metavar="F", default="quick", help="a TOML file or a preset (default: quick)"),
    option("--set", action="append", default=[], metavar="a.b=v", help="set one option; may be repeated"),
    option("--start", metavar="MODEL", required=True, help="model or run folder to start from"),
    option("--against", metavar="REV", help="a git revision: both versions turn about, with a greedy evaluation"),
    count("--rounds", 2, "with --against: measurements of each version; the median counts"),
)
def step(options: argparse.Namespace) -> int:
    from clickgrad.bench.against import bench_against
    from clickgrad.bench.step import bench_step
    from clickgrad.config import load_config
    from clickgrad.interrupts import run

    if options.against:
        config = load_config(options.config, options.set, "train")
        return _print(bench_against(config, options.start, options.against, options.rounds, options.json), options)
    config = load_config(options.config, options.set, "reinforce")
    with redirect_stdout(sys.stderr if options.json else sys.stdout):  # the step tells how far it is
        figures = run(bench_step(config, options.start))
    return _print(figures, options)


@bench(
    "learn",
    "an update as padded rows, packed rows and comb",
    option("--pages", type=int, nargs="+", default=[300, 1000, 3000], help="tokens of a page"),
    count("--lora-rank", 16, "0 trains all parameters"),
    count("--repeat", 1, "measurements of each; the best counts"),
    option("--compute", choices=["float32", "bfloat16"], default="float32", help="the type of products"),
)
def learn(options: argparse.Namespace) -> int:
    from clickgrad.bench.learn import bench_learn

    for figures in bench_learn(options.pages, options.lora_rank, options.repeat, options.compute, quiet=options.json):
        _print(figures, options)
    return DONE


def _print(figures: Any, options: argparse.Namespace) -> int:
    from clickgrad.bench.figures import as_text

    print(as_text(figures, options.json), flush=True)
    return DONE
