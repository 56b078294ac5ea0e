"""clickgrad: multi-turn reinforcement learning of web agents, in a real browser.

What the command line does can be done from here, see docs/python.md. Names are loaded when they are first used, so that
`import clickgrad` is light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from clickgrad.version import __version__

if TYPE_CHECKING:
    from clickgrad.api import (
        clone,
        compare,
        demos,
        evaluate,
        play,
        prove,
        read_run,
        read_trajectories,
        reinforce,
        train,
    )
    from clickgrad.backends.policies import parse_policy
    from clickgrad.config import Config, load_config, presets
    from clickgrad.errors import ClickgradError, InfraError, LearnError, UserError
    from clickgrad.tasks.suites import load_tasks
    from clickgrad.types import Task, Trajectory


_HOMES = {
    "clickgrad.api": (
        "clone",
        "compare",
        "demos",
        "evaluate",
        "play",
        "prove",
        "read_run",
        "read_trajectories",
        "reinforce",
        "train",
    ),
    "clickgrad.config": ("Config", "load_config", "presets"),
    "clickgrad.errors": ("ClickgradError", "InfraError", "LearnError", "UserError"),
    "clickgrad.backends.policies": ("parse_policy",),
    "clickgrad.tasks.suites": ("load_tasks",),
    "clickgrad.types": ("Task", "Trajectory"),
}
__all__ = [
    "ClickgradError",
    "Config",
    "InfraError",
    "LearnError",
    "Task",
    "Trajectory",
    "UserError",
    "__version__",
    "clone",
    "compare",
    "demos",
    "evaluate",
    "load_config",
    "load_tasks",
    "parse_policy",
    "play",
    "presets",
    "prove",
    "read_run",
    "read_trajectories",
    "reinforce",
    "train",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'clickgrad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
