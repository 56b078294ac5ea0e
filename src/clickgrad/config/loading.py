"""From TOML files and `--set a.b=value` to a configuration, checked before anything starts."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from clickgrad.config.sections import ALGORITHMS, AgentSection, Config, TasksSection
from clickgrad.errors import UserError, did_you_mean, warn

# Which sections a command reads; options of any other would be silent, so they are refused. A command that calls others
# reads what they read. A test holds this table against the code.
_EPISODES = frozenset({"seed", "tasks", "agent", "rollout"})
_LEARNING = frozenset({"model", "lora", "learner", "log", "cluster"})
_ALGORITHMS = frozenset({"reinforce", "values", *ALGORITHMS})
READ_BY = {
    "demos": _EPISODES | {"clone", "chat"},
    "reinforce": _EPISODES | _LEARNING | _ALGORITHMS | {"placement"},
    "evaluate": _EPISODES | {"model", "evaluate", "chat", "judge", "cluster"},
    "prove": _EPISODES | {"evaluate"},
    "replay": frozenset({"tasks", "agent", "rollout"}),
    "run": frozenset({"seed", "model", "agent", "rollout", "chat"}),
}
READ_BY["film"] = READ_BY["replay"]
READ_BY["watch"] = READ_BY["record"] = READ_BY["demo"] = _EPISODES | {"model", "chat"}
READ_BY["clone"] = READ_BY["demos"] | _LEARNING
READ_BY["train"] = READ_BY["clone"] | READ_BY["reinforce"] | READ_BY["evaluate"] | {"train"}
READ_BY["study start"] = READ_BY["clone"] | READ_BY["reinforce"] | READ_BY["evaluate"] | {"thinking"}
READ_BY["study forks"] = READ_BY["clone"] | READ_BY["reinforce"] | READ_BY["evaluate"] | {"forks"}
READ_BY["study baselines"] = READ_BY["clone"] | READ_BY["reinforce"] | READ_BY["evaluate"] | {"baselines"}
READ_BY["study format"] = READ_BY["evaluate"] | {"thinking"}
READ_BY["study turns"] = READ_BY["evaluate"] | {"turns"}
READ_BY["study prompting"] = READ_BY["evaluate"]
REPLACED = {"learner.autocast": "model.compute='bfloat16'", "reinforce.int8": "model.compute='int8'"}
ONLY = {  # where a command reads but a few options of a section
    "prove": {"evaluate": {"split", "limit"}},
    "demos": {"clone": {"demos", "remarks"}},
}
FILTERS = ("seed", "sites", "templates", "max_expert_turns", "each")  # of tasks; each speaks of one suite


def presets() -> list[str]:
    folder = resources.files("clickgrad") / "presets"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load_config(source: str | None, settings: Sequence[str], command: str, default: str | None = None) -> Config:
    """`source` is a preset's name or a TOML file; `settings` are `a.b=value` in TOML's notation of values.

    `default` is the preset for users who name none. What it says of the agent gives way to what a policy brings along.
    """
    values = _of_command(_read(source), source, command) if source else _read(default) if default else {}
    mine = dict[str, Any]()
    for setting in settings:
        _apply(mine, setting, command)
    _drop_filters(values, mine, source or default or "")
    for setting in settings:
        _apply(values, setting, command)
    _refuse_replaced(values)
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        origin = f"{source}: " if source else ""
        if first["type"] == "extra_forbidden":
            near = near_option(where, [*Config.model_fields, *_all_options()])
            raise UserError(f"{origin}unknown option {where}{near}: {_known(first['loc'])}") from None
        if not where:  # options that do not go together, said in a sentence of our own
            raise UserError(origin + str(first["ctx"]["error"])) from None
        raise UserError(f"{origin}option {where}: {first['msg'].lower()}, not {first['input']!r}") from None
    if source or not default:
        return config
    agent = AgentSection.model_construct(set(mine.get("agent", {})), **config.agent.model_dump())
    return config.model_copy(update={"agent": agent})


def _refuse_replaced(values: dict[str, Any]) -> None:
    """Options of earlier versions. Where one was off, as all were by default, it says nothing that is still true."""
    for name, successor in REPLACED.items():
        section, _, option = name.partition(".")
        if values.get(section, {}).pop(option, False):
            raise UserError(f"option {name} is now {successor}")


def _of_command(values: dict[str, Any], source: str, command: str) -> dict[str, Any]:
    """A preset is for whole runs, and so is a file that names a command, as config.toml in a run's folder does: every
    command reads its part of it. In any other file a section that this command does not read is a mistake."""
    if source in presets():
        return values
    whole, allowed = values.get("command"), READ_BY[command]
    if whole is not None:
        if whole not in READ_BY:
            raise UserError(f"{source}: command = {whole!r} is none; known are {', '.join(sorted(READ_BY))}")
        allowed |= READ_BY[whole]
        values = {name: value for name, value in values.items() if name not in ("command", "start")}
    unread = next((name for name in values if name in Config.model_fields and name not in allowed), None)
    if unread:
        raise UserError(
            f"{source}: `clickgrad {whole or command}` does not read the section {unread}; leave it out"
            + ("" if whole else ", or name at the top of the file the command that does, as command = 'train'")
        )
    return values


def _drop_filters(values: dict[str, Any], mine: dict[str, Any], source: str) -> None:
    """A file's choice among the tasks of one suite means nothing in another, nor does a turn limit made for it."""
    of_file, chosen = values.get("tasks", {}), mine.get("tasks", {})
    if not isinstance(of_file, dict) or not isinstance(chosen, dict):
        return
    suite = chosen.get("suite")
    if suite in (None, of_file.get("suite", TasksSection().suite)):
        return
    dropped = [f"tasks.{name}" for name in FILTERS if of_file.pop(name, None) is not None]
    agent = values.get("agent", {})
    if "tasks.max_expert_turns" in dropped and isinstance(agent, dict) and agent.pop("max_turns", None) is not None:
        dropped.append("agent.max_turns")
    if dropped:
        warn(f"with tasks.suite={suite} what {source} says of {', '.join(dropped)} is left out")


def _read(source: str) -> dict[str, Any]:
    if source in presets():
        text = (resources.files("clickgrad") / "presets" / f"{source}.toml").read_text()
    else:
        try:
            text = Path(source).read_text()
        except OSError as error:
            known = ", ".join(presets())
            near = did_you_mean(source, presets())
            raise UserError(
                f"config {source}{near}: {error.strerror}; give a TOML file or a preset ({known})"
            ) from None
        except UnicodeDecodeError:
            raise UserError(f"config {source} is not a text file; give a TOML file") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"config {source} is not TOML: {error}") from None


def _apply(values: dict[str, Any], setting: str, command: str) -> None:
    path, equals, text = setting.partition("=")
    parts = path.strip().split(".")
    if not equals or not all(parts):
        raise UserError(f"--set {setting!r}: write it as section.option=value")
    if parts[0] in Config.model_fields and parts[0] not in READ_BY[command]:
        raise UserError(f"--set {path}: `clickgrad {command}` does not read the section {parts[0]}")
    only = ONLY.get(command, {}).get(parts[0])
    if only and parts[1:2] and parts[1] not in only:
        raise UserError(f"--set {path}: `clickgrad {command}` reads only {', '.join(sorted(only))} of {parts[0]}")
    for part in parts[:-1]:
        values = values.setdefault(part, {})
        if not isinstance(values, dict):
            raise UserError(f"--set {path}: {part} is not a section")
    values[parts[-1]] = _value(text.strip())


def _value(text: str) -> Any:
    """A TOML value; a bare word is a string, as people expect on a command line."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def near_option(name: str, known: Sequence[str]) -> str:
    """` (did you mean 'lora.rank'?)`. Within a section only the last words are compared: the first are the same."""
    section, dot, word = name.rpartition(".")
    inside = [one.removeprefix(section + dot) for one in known if one.rpartition(".")[0] == section]
    if not dot or not inside:
        return did_you_mean(name, known)
    return did_you_mean(word, inside).replace("'", f"'{section}.", 1)


def _all_options(section: type[BaseModel] = Config, prefix: str = "") -> list[str]:
    names = []
    for name, field in section.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            names += _all_options(inner, f"{prefix}{name}.")
        else:
            names.append(f"{prefix}{name}")
    return names


def _known(where: tuple[int | str, ...]) -> str:
    section: type[BaseModel] = Config
    for part in where[:-1]:
        annotation = section.model_fields[str(part)].annotation
        assert isinstance(annotation, type)
        section = annotation
    return "known here are " + ", ".join(section.model_fields)
