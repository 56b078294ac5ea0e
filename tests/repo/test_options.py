"""What a command reads is what the code it calls reads: the table of the options against the syntax trees."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import clickgrad
from clickgrad.config import READ_BY, Config

PACKAGE = Path(clickgrad.__file__).parent
ROOTS = {"run": "_run_goal"}  # of the command line; the others are called as their commands
# Reached by name, but never at work. The learner comes with a way to open rollouts, which cloning does not go.
NOT_CALLED = {"clone": {"reinforce"}}

Place = tuple[str, str]  # module and name of a function or class


@cache
def parsed(module: str) -> ast.Module:
    path = PACKAGE.parent.joinpath(*module.split("."))
    file = path.with_suffix(".py")
    return ast.parse((file if file.exists() else path / "__init__.py").read_text())


def definitions(module: str) -> dict[str, ast.AST]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name: node for node in parsed(module).body if isinstance(node, kinds)}


def imports(nodes: list[ast.AST]) -> dict[str, Place]:
    """Names from the recipes: no other part of the package sees a configuration."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("clickgrad.recipes")
        for alias in node.names
    }


@cache
def looked_at(place: Place) -> tuple[frozenset[str], frozenset[Place]]:
    """The sections that one function or class names itself, and the places it refers to."""
    module, name = place
    here = definitions(module)
    if name not in here:
        return frozenset(), frozenset()
    nodes = list(ast.walk(here[name]))
    known = {other: (module, other) for other in here} | imports(list(parsed(module).body)) | imports(nodes)
    sections = {node.attr for node in nodes if isinstance(node, ast.Attribute) and is_config(node.value)}
    named = {node.id for node in nodes if isinstance(node, ast.Name)}
    return frozenset(sections & set(Config.model_fields)), frozenset(known[one] for one in named & known.keys())


def is_config(node: ast.AST) -> bool:
    """`config`, `self.config`, `self._config`, `apprentice.config`."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.lstrip("_") == "config"


def read_by(command: str) -> set[str]:
    start = ("clickgrad.cli", ROOTS.get(command, "_" + command.replace(" ", "_")))
    assert start[1] in definitions("clickgrad.cli")
    seen, left, found = {start}, [start], set[str]()
    while left:
        sections, places = looked_at(left.pop())
        found |= sections
        left += places - seen
        seen |= places
    return found - NOT_CALLED.get(command, set())


@pytest.mark.parametrize("command", READ_BY)
def test_a_command_takes_the_options_that_its_code_reads_and_no_others(command: str) -> None:
    assert set(READ_BY[command]) == read_by(command)


def test_every_option_is_read_by_some_command() -> None:
    assert set().union(*map(read_by, READ_BY)) == set(Config.model_fields)
