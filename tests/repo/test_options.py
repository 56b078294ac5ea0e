"""What a command reads is what the code it calls reads: the table of the options against the syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

import clickgrad
from clickgrad.cli.parser import MODULES, declared
from clickgrad.config import ALGORITHMS, ONLY, READ_BY, Config, load_config
from clickgrad.errors import UserError

PACKAGE = Path(clickgrad.__file__).parent
ROOTS = {
    command.name: (module.__name__, name) for module in MODULES for name, command in declared(module).items()
}  # functions of the command line
# The rooms that see a configuration.
ROOMS = tuple(f"clickgrad.{room}" for room in ("recipes", "backends", "tools", "live", "studies", "planning"))
# Reached by name, but never at work: rollout workers open a judge and take pictures in evaluations alone.
NOT_CALLED = {"reinforce": {"judge", "evaluate"}}

Place = tuple[str, str]  # module and name of a function or class, or of a method as Class.method


@cache
def parsed(module: str) -> ast.Module:
    path = PACKAGE.parent.joinpath(*module.split("."))
    file = path.with_suffix(".py")
    return ast.parse((file if file.exists() else path / "__init__.py").read_text())


def definitions(module: str) -> Mapping[str, ast.AST]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = {node.name: node for node in parsed(module).body if isinstance(node, kinds)}
    methods = {
        f"{name}.{method.name}": method
        for name, node in found.items()
        if isinstance(node, ast.ClassDef)
        for method in node.body
        if isinstance(method, kinds)
    }
    return found | methods


def imports(nodes: list[ast.AST]) -> dict[str, Place]:
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(ROOMS)
        for alias in node.names
    }


@cache
def looked_at(place: Place) -> tuple[frozenset[str], frozenset[Place], frozenset[str]]:
    """The sections that a function, a class or a method names itself, the places it refers to, and all attributes."""
    module, name = place
    here = definitions(module)
    if name not in here:
        return frozenset(), frozenset(), frozenset()
    node = here[name]
    # What the methods of a class read counts when they are called.
    nodes = [] if isinstance(node, ast.ClassDef) else list(ast.walk(node))
    known = {other: (module, other) for other in here} | imports(list(parsed(module).body)) | imports(nodes)
    sections = {node.attr for node in nodes if isinstance(node, ast.Attribute) and is_config(node.value)}
    sections |= set(ALGORITHMS) if "of_algorithm" in sections else set()  # any of them, by the algorithm's name
    named = {node.id for node in nodes if isinstance(node, ast.Name)}
    attributes = frozenset(node.attr for node in nodes if isinstance(node, ast.Attribute))
    places = frozenset(known[one] for one in named & known.keys())
    return frozenset(sections & set(Config.model_fields)), places, attributes


def called_methods(seen: set[Place], attributes: set[str]) -> set[Place]:
    """Of the classes that were met: `backend.players(...)` calls the method `players` of whichever backend it is."""
    return {
        (module, name)
        for module in {module for module, _ in seen}
        for name in definitions(module)
        if "." in name
        and (module, name.partition(".")[0]) in seen
        and (name.partition(".")[2] in attributes or name.endswith("__"))
    }


def is_config(node: ast.AST) -> bool:
    """`config`, `self.config`, `self._config`, `apprentice.config`."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.lstrip("_") == "config"


def reached(command: str) -> set[Place]:
    start = ROOTS[command]
    assert start[1] in definitions(start[0])
    seen, left, attributes = {start}, [start], set[str]()
    while left:
        _, places, used = looked_at(left.pop())
        attributes |= used
        new = (places | called_methods(seen | places, attributes)) - seen
        left += new
        seen |= new
    return seen


def read_by(command: str) -> set[str]:
    found = set[str]().union(*(looked_at(place)[0] for place in reached(command)))
    return found - NOT_CALLED.get(command, set())


def read_of(command: str, section: str) -> set[str]:
    """The options of a section that are read as `config.section.option`."""
    places = [definitions(module).get(name) for module, name in reached(command)]
    nodes = [node for place in places if place and not isinstance(place, ast.ClassDef) for node in ast.walk(place)]
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == section
        and is_config(node.value.value)
    }


@pytest.mark.parametrize("command", READ_BY)
def test_a_command_takes_the_options_that_its_code_reads_and_no_others(command: str) -> None:
    assert set(READ_BY[command]) == read_by(command)


@pytest.mark.parametrize(("command", "section"), [(one, section) for one in ONLY for section in ONLY[one]])
def test_where_a_command_reads_few_options_of_a_section_the_others_are_refused(command: str, section: str) -> None:
    assert ONLY[command][section] == read_of(command, section)
    other = next(name for name in getattr(Config(), section).model_dump() if name not in ONLY[command][section])
    with pytest.raises(UserError, match=f"`clickgrad {command}` reads only .* of {section}"):
        load_config(None, [f"{section}.{other}=1"], command)


def test_every_option_is_read_by_some_command() -> None:
    assert set().union(*map(read_by, READ_BY)) == set(Config.model_fields)
