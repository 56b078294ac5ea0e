"""Metrics also for TensorBoard and Weights & Biases, where those are installed. metrics.jsonl is always written."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib import import_module, util
from pathlib import Path
from typing import Any

from clickgrad.errors import UserError
from clickgrad.report.metrics import Mirror


def open_mirrors(run: Path, tensorboard: bool, wandb: str) -> list[Mirror]:
    """`wandb` is the name of a project there, or empty. What is asked for but not installed is said at once."""
    mirrors: list[Mirror] = []
    if tensorboard:
        _require("tensorboard", "log.tensorboard=false")
        mirrors.append(TensorBoard(run / "tensorboard"))
    if wandb:
        _require("wandb", 'log.wandb=""')
        mirrors.append(WeightsAndBiases(run, wandb))
    return mirrors


def _require(package: str, without: str) -> None:
    if util.find_spec(package) is None:
        raise UserError(f"{package} is not installed: pip install {package}, or --set {without}")


class TensorBoard:
    """Event files by TensorBoard's own writer. Steps taken again after a kill appear twice there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: Any = None

    def write(self, figures: Mapping[str, Any]) -> None:
        proto = import_module("tensorboard.compat.proto.event_pb2")
        summary = import_module("tensorboard.compat.proto.summary_pb2").Summary
        if self._file is None:
            writer = import_module("tensorboard.summary.writer.event_file_writer")
            self._file = writer.EventFileWriter(str(self._folder))
        values = [summary.Value(tag=name, simple_value=value) for name, value in _numbers(figures).items()]
        event = proto.Event(wall_time=time.time(), step=int(figures["step"]), summary=summary(value=values))
        self._file.add_event(event)
        self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class WeightsAndBiases:
    """One run there for each sitting here. Whether it is sent or kept is for its own settings (WANDB_MODE) to say."""

    def __init__(self, run: Path, project: str) -> None:
        self._folder = run
        self._project = project
        self._run: Any = None

    def write(self, figures: Mapping[str, Any]) -> None:
        if self._run is None:
            name = "-".join(self._folder.resolve().parts[-2:])
            self._run = import_module("wandb").init(project=self._project, name=name, dir=str(self._folder))
        self._run.log(_numbers(figures), step=int(figures["step"]))

    def close(self) -> None:
        if self._run is not None:
            self._run.finish()


def _numbers(figures: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in figures.items() if isinstance(value, int | float) and name != "step"}
