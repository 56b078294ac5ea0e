"""What the command line says about a show. Loads nothing."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clickgrad.live.showing import Show


def add_show_options(command: argparse.ArgumentParser, suite: bool = True) -> None:
    if suite:
        command.add_argument(
            "--suite",
            dest="set",
            action="append",
            type=lambda name: f"tasks.suite={name}",
            metavar="S",
            help="a suite, a JSON file of tasks, or a folder of your own (short for --set tasks.suite=S)",
        )
    add_server_options(command)
    command.add_argument("--once", action="store_true", help="end after the first verdict")
    command.add_argument(
        "--pace", type=float, default=0.8, metavar="S", help="seconds between a reply and its action (default: 0.8)"
    )


def add_server_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--port", type=int, default=8420, help="default: 8420; 0 takes any free one")
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    command.add_argument("--no-open", action="store_true", help="open no browser")


def read_show_options(options: argparse.Namespace) -> Show:
    from clickgrad.live.showing import Show

    return Show(options.host, options.port, not options.no_open, options.once, max(0.0, options.pace))
