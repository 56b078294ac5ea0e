"""The parser of the command line: all commands that the modules below declare."""

from __future__ import annotations

import argparse
import re
from types import ModuleType
from typing import NoReturn

from clickgrad.cli import benches, shows, studies, tools, training
from clickgrad.cli.declaring import MISTAKE, Command
from clickgrad.errors import did_you_mean
from clickgrad.version import __version__

MODULES: tuple[ModuleType, ...] = (training, shows, tools, studies, benches)  # in the order of --help
GROUPS = {  # of commands in two words: what they are, and the title, name and help of the second word
    "study": ("the paper's studies, with our numbers beside the paper's", "studies", "STUDY"),
    "bench": ("measure a part on this machine", "parts", "PART"),
}


class _Parser(argparse.ArgumentParser):
    """A mistake is one line, with what was probably meant."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '([^']*)'|unrecognized arguments: (\S+)", message)
        near = did_you_mean((wrong[1] or wrong[2]).partition("=")[0], self._words()) if wrong else ""
        text = message.replace("argument COMMAND: invalid choice:", "there is no command")
        text = text.partition(" (choose from")[0] if near else text
        self.exit(MISTAKE, f"clickgrad: {text}{near}; `{self.prog} --help` says more\n")

    def _words(self) -> set[str]:
        """All that could have been meant: options and choices, those of the commands below included."""
        words = set(self._option_string_actions)
        for action in self._actions:
            words |= {str(choice) for choice in action.choices or ()}
            below = action.choices.values() if isinstance(action.choices, dict) else ()
            words |= {word for parser in below if isinstance(parser, _Parser) for word in parser._words()}
        return words


def declared(module: ModuleType) -> dict[str, Command]:
    """By the names that the module gives them, in its order."""
    return {name: value for name, value in vars(module).items() if isinstance(value, Command)}


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
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
