"""`clickgrad bench PART`: what can be measured, with which options. Light: the parser is built for every command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

DONE, FAILED = 0, 1


def add_benches(bench: argparse.ArgumentParser) -> None:
    parts = bench.add_subparsers(title="parts", required=True, metavar="PART")

    def add(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        part = parts.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        part.add_argument("--json", action="store_true", help="one JSON object for each measurement")
        part.set_defaults(run_command=run)
        return part

    worlds = add("worlds", _bench_worlds, "forking worlds, serving pages, memory")
    worlds.add_argument("--worlds", type=int, default=200, help="worlds kept alive at once (default: 200)")
    worlds.add_argument("--forks", type=int, default=10_000, help="forks one after the other (default: 10000)")
    add("engine", _bench_engine, "the torch engine against transformers, on a recorded crowd of episodes")
    browser = add("browser", _bench_browser, "turns per second, every kind of action, many episodes on end")
    browser.add_argument("--episodes", type=int, default=500, help="one after the other, for memory (default: 500)")
    cluster = add("cluster", _bench_cluster, "what Ray costs on one machine, against none")
    cluster.add_argument("--episodes", type=int, default=100, help="measured in each round (default: 100)")
    cluster.add_argument("--repeat", type=int, default=2, help="rounds; the best counts (default: 2)")
    chaos = add("chaos", _bench_chaos, "a small training run under a storm of faults, and what it did wrong")
    chaos.add_argument(
        "--episodes", type=int, default=200, help="of the run; a fault comes about every third (default: 200)"
    )
    chaos.add_argument("--seed", type=int, default=0, help="of the storm (default: 0)")
    chaos.add_argument("--kinds", metavar="A,B", default="", help="only these kinds of faults (default: all)")
    chaos.add_argument(
        "--source", type=Path, metavar="DIR", help="disturb the package in this folder, of another version"
    )
    chaos.add_argument("--keep", type=Path, metavar="DIR", help="leave the run, its output and a journal here")
    chaos.add_argument("--patience", type=float, default=90.0, metavar="S", help="silence that is a hang (default: 90)")
    step = add("step", _bench_step, "one step of reinforcement: where its time goes")
    step.add_argument("--config", metavar="F", default="quick", help="a TOML file or a preset (default: quick)")
    step.add_argument("--set", action="append", default=[], metavar="a.b=v", help="set one option; may be repeated")
    step.add_argument("--start", metavar="MODEL", required=True, help="model or run folder to start from")
    learn = add("learn", _bench_learn, "an update as padded rows, packed rows and comb")
    learn.add_argument("--pages", type=int, nargs="+", default=[300, 1000, 3000], help="tokens of a page")
    learn.add_argument("--lora-rank", type=int, default=16, help="0 trains all parameters (default: 16)")
    learn.add_argument("--repeat", type=int, default=1, help="measurements of each; the best counts (default: 1)")


def _bench_worlds(options: argparse.Namespace) -> int:
    from clickgrad.bench.figures import as_text
    from clickgrad.bench.worlds import bench_worlds

    print(as_text(bench_worlds(options.worlds, options.forks, quiet=options.json), options.json))
    return DONE


def _bench_engine(options: argparse.Namespace) -> int:
    from clickgrad.bench.engine import bench_engine
    from clickgrad.bench.figures import as_text

    print(as_text(bench_engine(quiet=options.json), options.json))
    return DONE


def _bench_browser(options: argparse.Namespace) -> int:
    from clickgrad.bench.browser import bench_browser
    from clickgrad.bench.figures import as_text

    print(as_text(bench_browser(options.episodes, quiet=options.json), options.json))
    return DONE


def _bench_cluster(options: argparse.Namespace) -> int:
    from clickgrad.bench.cluster import bench_cluster
    from clickgrad.bench.figures import as_text

    print(as_text(bench_cluster(options.episodes, options.repeat, quiet=options.json), options.json))
    return DONE


def _bench_chaos(options: argparse.Namespace) -> int:
    from clickgrad.bench.chaos.bench import ChaosOptions, bench_chaos
    from clickgrad.bench.chaos.figures import as_json

    kinds = tuple(filter(None, options.kinds.split(",")))
    wanted = ChaosOptions(options.episodes, options.seed, kinds, options.source, options.keep, options.patience)
    figures = bench_chaos(wanted, quiet=options.json)
    print(as_json(figures) if options.json else figures.text())
    return DONE if figures.clean else FAILED


def _bench_learn(options: argparse.Namespace) -> int:
    from clickgrad.bench.figures import as_text
    from clickgrad.bench.learn import bench_learn

    for figures in bench_learn(options.pages, options.lora_rank, options.repeat, quiet=options.json):
        print(as_text(figures, options.json), flush=True)
    return DONE


def _bench_step(options: argparse.Namespace) -> int:
    from clickgrad.bench.figures import as_text
    from clickgrad.bench.step import bench_step
    from clickgrad.config import load_config
    from clickgrad.interrupts import run

    config = load_config(options.config, options.set, "reinforce")
    with redirect_stdout(sys.stderr if options.json else sys.stdout):  # the step tells how far it is
        figures = run(bench_step(config, options.start))
    print(as_text(figures, options.json))
    return DONE
