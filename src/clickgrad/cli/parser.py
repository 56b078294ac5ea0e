"""The parser of the command line: all commands that the modules below declare."""

from __future__ import annotations

import argparse
from types import ModuleType

from clickgrad.cli import benches, studies, tools, training
from clickgrad.cli.declaring import Command
from clickgrad.version import __version__

MODULES: tuple[ModuleType, ...] = (training, tools, studies, benches)  # in the order of --help
GROUPS = {  # of commands in two words: what they are, and the title, name and help of the second word
    "study": ("the paper's studies, with our numbers beside the paper's", "studies", "STUDY"),
    "bench": ("measure a part on this machine", "parts", "PART"),
}


def declared(module: ModuleType) -> dict[str, Command]:
    """By the names that the module gives them, in its order."""
    return {name: value for name, value in vars(module).items() if isinstance(value, Command)}


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="clickgrad", description="Multi-turn reinforcement learning of web agents, in a real browser."
    )
    parser.add_argument("--version", action="version", version=f"clickgrad {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    places = {"": commands}
    for command in (one for module in MODULES for one in declared(module).values()):
        group, _, name = command.name.rpartition(" ")
        if group not in places:
            text, title, word = GROUPS[group]
            under = commands.add_parser(group, help=text, description=_sentence(text))
            places[group] = under.add_subparsers(title=title, required=True, metavar=word)
        added = places[group].add_parser(name, help=command.text, description=_sentence(command.text))
        added.set_defaults(run_command=command.run)
        for add_option in command.options:
            add_option(added)
    return parser


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
