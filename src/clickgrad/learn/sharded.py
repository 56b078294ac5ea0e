"""Weights and moments of which every rank holds a part: read, written and checkpointed part by part.

No process ever holds all of them: a rank reads its own slices of safetensors files, and writes its own file of a
checkpoint (torch.distributed.checkpoint), which any other number of processes can load. A model for others to read is
written one parameter at a time.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.checkpoint.state_dict_loader import load as load_shards
from torch.distributed.checkpoint.state_dict_saver import save as save_shards
from torch.distributed.tensor import DTensor
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

from clickgrad.integrity import digest, flush
from clickgrad.learn import checkpoint
from clickgrad.learn.checkpoint import Tensors
from clickgrad.learn.ranks import Ranks, full_tensor

FILE_BYTES = 2_000_000_000  # of a model that is written for others


# --- parts of files -------------------------------------------------------------------------------------------------


@torch.no_grad()
def read_parts(wanted: Iterable[tuple[str, Any]], files: Mapping[str, Path]) -> None:
    """Into each tensor what the file of its name has: this rank's part of it."""
    with ExitStack() as stack:
        opened: dict[Path, Any] = {}
        for name, value in wanted:
            path = files[name]
            if path not in opened:
                opened[path] = stack.enter_context(safetensors.safe_open(path, "pt"))
            local, place = _own_part(value)
            stored = opened[path].get_slice(name)
            if list(stored.get_shape()) != list(value.shape):
                raise ValueError(f"{name} is {stored.get_shape()} in {path.name}, not {list(value.shape)}")
            if local.numel():
                local.copy_(stored[place] if place else opened[path].get_tensor(name))


def _own_part(value: Any) -> tuple[torch.Tensor, tuple[slice, ...]]:
    """What this rank holds, to be written into, and where in the whole it lies.

    The second of two ranks has of 5 x 2 numbers the rows 3 and 4:  slice(3, 5), slice(0, 2).
    """
    if not isinstance(value, DTensor):
        return value, tuple(slice(0, size) for size in value.shape)
    shape, offset = compute_local_shape_and_global_offset(value.shape, value.device_mesh, value.placements)
    return value.to_local(), tuple(slice(start, start + size) for start, size in zip(offset, shape, strict=True))


def fill(model: Any, files: Mapping[str, Path], device: torch.device) -> None:
    """A sharded model on the meta device gets memory for this rank's parts, and its weights."""
    model.to_empty(device=device)
    model.tie_weights()
    for module in model.modules():
        if module._non_persistent_buffers_set:  # in no file: rotary frequencies, which the configuration says
            with device:
                fresh = type(module)(model.config)
            for name in module._non_persistent_buffers_set:
                setattr(module, name, getattr(fresh, name))
    read_parts(model.named_parameters(), files)


# --- a model for others ---------------------------------------------------------------------------------------------


@torch.no_grad()
def write_model(folder: Path, model: Any, ranks: Ranks, dtype: torch.dtype | None = None) -> None:
    """A transformers folder, by the first rank; all must call it. One parameter is whole at a time."""
    writer = _Writer(folder) if ranks.is_first else None
    if writer:
        folder.mkdir(parents=True, exist_ok=True)
    for name, value in model.named_parameters():
        whole = full_tensor(value.detach())
        if writer:
            writer.add(name, whole.to("cpu", dtype or whole.dtype))
        del whole
    if writer:
        writer.finish()
        model.config.architectures = [type(model).__name__.removeprefix("FSDP")]  # as sharding calls its class
        model.config.save_pretrained(folder)
        model.generation_config.save_pretrained(folder)


class _Writer:
    """Files of about FILE_BYTES, named as transformers names them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: Tensors = {}
        self._places: dict[str, int] = {}  # the number of the file that a tensor is in
        self._files = 0
        self._bytes = 0

    def add(self, name: str, tensor: torch.Tensor) -> None:
        waiting = sum(one.nbytes for one in self._waiting.values())
        if self._waiting and waiting + tensor.nbytes > FILE_BYTES:
            self._write()
        self._waiting[name] = tensor.contiguous()
        self._bytes += tensor.nbytes

    def _write(self) -> None:
        safetensors.torch.save_file(self._waiting, self._folder / f"{self._files}.part", {"format": "pt"})
        self._places |= dict.fromkeys(self._waiting, self._files)
        self._waiting, self._files = {}, self._files + 1

    def finish(self) -> None:
        self._write()
        if self._files == 1:
            (self._folder / "0.part").rename(self._folder / "model.safetensors")
            return
        names = [f"model-{number + 1:05d}-of-{self._files:05d}.safetensors" for number in range(self._files)]
        for number, name in enumerate(names):
            (self._folder / f"{number}.part").rename(self._folder / name)
        weights = {name: names[number] for name, number in self._places.items()}
        index = {"metadata": {"total_size": self._bytes}, "weight_map": weights}
        (self._folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1))


# --- checkpoints ----------------------------------------------------------------------------------------------------


def save(root: Path, state: checkpoint.State, keep: int, ranks: Ranks, group: Any = None) -> None:
    """Every rank writes what it holds; the first one says what the checkpoint is, and publishes it.

    `group` is who speaks to whom about it: all ranks' own, or another one of all of them, for a thread.
    """
    final = checkpoint.step_folder(root, state.progress.step)
    if ranks.is_first:
        checkpoint.empty_partial(final)
    torch.distributed.barrier(group)
    partial = checkpoint.partial_folder(final)
    with checkpoint.saving(final), _as_os_error():
        parts = names(state.weights, state.moments)
        save_shards(parts, storage_writer=FileSystemWriter(partial), process_group=group, no_dist=False)
    mine = {file.name: digest(file) for file in partial.glob(f"__{ranks.rank}_*")}
    gathered: list[dict[str, str]] = [{} for _ in range(ranks.size)]
    torch.distributed.all_gather_object(gathered, mine, group)
    if ranks.is_first:
        files = {name: one for some in gathered for name, one in some.items()}
        _publish(root, partial, state, files, keep)
    torch.distributed.barrier(group)


def _publish(root: Path, partial: Path, state: checkpoint.State, files: Mapping[str, str], keep: int) -> None:
    final = checkpoint.step_folder(root, state.progress.step)
    with checkpoint.publishing(root, final, keep, partial):
        if state.values:
            safetensors.torch.save_file(state.values, partial / checkpoint.VALUES)
        own = [file for file in partial.iterdir() if file.name not in files]
        files = dict(files) | {file.name: digest(file) for file in own}
        checkpoint.write_progress(partial, checkpoint.SHARDED, state.progress, state.score, files)
        flush(partial)


def names(weights: Mapping[str, Any], moments: Mapping[str, Any]) -> Tensors:
    """Of both in one checkpoint."""
    return {f"weights.{name}": value for name, value in weights.items()} | {
        f"moments.{name}": value for name, value in moments.items()
    }


@torch.no_grad()
def load(folder: Path, weights: Mapping[str, Any], parameters: list[Any], ranks: Ranks) -> Tensors:
    """Into `weights` this rank's parts of a checkpoint of any number of processes; returns its parts of the moments.

    `parameters` are the optimizer's, by number.
    """
    files = None if checkpoint.is_sharded(folder) else _whole_files(folder)
    moments = {key: _like(parameters[int(key.split(".")[0])], *kind) for key, kind in _kinds(folder, files).items()}
    if files is not None:
        read_parts(weights.items(), files)
        read_parts(moments.items(), files)
        return moments
    with _as_os_error(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # one process alone is what is meant
        load_shards(names(weights, moments), storage_reader=FileSystemReader(folder), no_dist=ranks.size == 1)
    return moments


def _whole_files(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for file in (folder / checkpoint.WEIGHTS, folder / checkpoint.MOMENTS):
        with safetensors.safe_open(file, "pt") as opened:
            found |= dict.fromkeys(opened.keys(), file)
    return found


def _kinds(folder: Path, files: Mapping[str, Path] | None) -> dict[str, tuple[torch.Size, torch.dtype]]:
    """Shape and type of every moment."""
    if files is None:
        stored = FileSystemReader(folder).read_metadata().state_dict_metadata
        return {
            name.removeprefix("moments."): (one.size, one.properties.dtype)
            for name, one in stored.items()
            if name.startswith("moments.") and isinstance(one, TensorStorageMetadata)
        }
    path = folder / checkpoint.MOMENTS
    with safetensors.safe_open(path, "pt") as opened:
        shapes = {key: torch.Size(opened.get_slice(key).get_shape()) for key in list(opened.keys())}
    return {key: (shape, torch.float32) for key, shape in shapes.items()}


def _like(parameter: Any, shape: torch.Size, dtype: torch.dtype) -> Any:
    """Memory for a moment: sharded as its parameter, where it has its shape."""
    return torch.zeros_like(parameter) if shape == parameter.shape else torch.zeros(shape, dtype=dtype)


@contextmanager
def _as_os_error() -> Iterator[None]:
    """What fails on any rank is told as a file's fault: the library's own error is not even an Exception."""
    try:
        yield
    except CheckpointException as error:
        first = next(iter(error.failures.values()))[0]
        raise OSError((str(first).splitlines() or [type(first).__name__])[0]) from error
