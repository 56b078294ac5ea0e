"""Which policy the user means, parsed once: `scripted:expert`, `torch:<model>`, `chat:<model>`, a run's folder, ..."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from clickgrad.errors import UserError
from clickgrad.run_layout import model_of

KNOWN = (
    "scripted:expert, scripted:noop, torch:smollm2, torch:<folder or hub id>, vllm:<url>, chat:<model>, "
    "shipped:<name>, or a run folder"
)


Compute = Literal["float32", "bfloat16", "int8"]  # the type of a model's products


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model to be loaded in any process."""

    source: str = "smollm2"  # a transformers folder, a hub id, or smollm2
    device: Literal["auto", "cpu", "cuda"] = "auto"
    dtype: Literal["float32", "bfloat16"] = "float32"
    threads: int = 0  # of torch; 0 leaves the choice to torch
    context_tokens: int = 0  # the longest prompt with its reply; 0 is all that the model can read
    compute: Compute = "float32"  # of products on the CPU; int8 only while sampling


@dataclass(frozen=True, slots=True)
class Scripted:
    name: Literal["expert", "noop"]

    def __str__(self) -> str:
        return f"scripted:{self.name}"


@dataclass(frozen=True, slots=True)
class Replies:
    """A file with a reply a line."""

    file: Path

    def __str__(self) -> str:
        return f"scripted:{self.file}"


@dataclass(frozen=True, slots=True)
class TorchModel:
    source: str  # a transformers folder, a hub id, or smollm2
    text: str  # as the user wrote it

    @classmethod
    def of(cls, source: str) -> TorchModel:
        """A run folder stands for the model it made."""
        return cls(model_of(source), f"torch:{source}")

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class VllmServers:
    urls: tuple[str, ...]

    def __str__(self) -> str:
        return f"vllm:{','.join(self.urls)}"


@dataclass(frozen=True, slots=True)
class ChatModel:
    model: str  # the name the endpoint knows it by

    def __str__(self) -> str:
        return f"chat:{self.model}"


SHIPPED = Path(__file__).parent.parent / "shipped"  # adapters that come with the package, a folder each


def shipped_names() -> list[str]:
    return sorted(file.parent.name for file in SHIPPED.glob("*/adapter_config.json"))


def _shipped(name: str, text: str) -> TorchModel:
    if name not in shipped_names():
        known = ", ".join(shipped_names()) or "none in this copy; scripts/ship.py makes one from a run"
        raise UserError(f"{text}: no such policy ships with clickgrad ({known})")
    return TorchModel(str(SHIPPED / name), text)


PolicySpec = Scripted | Replies | TorchModel | VllmServers | ChatModel


def parse_policy(text: str) -> PolicySpec:
    kind, _, name = text.partition(":")
    match kind:
        case "scripted" if name == "expert":
            return Scripted("expert")
        case "scripted" if name == "noop":
            return Scripted("noop")
        case "scripted" if Path(name).is_file():
            return Replies(Path(name))
        case "chat" if name:
            return ChatModel(name)
        case "chat":
            raise UserError("chat: names no model; write it as chat:<model>, for example chat:gpt-4o")
        case "vllm" if name:
            return VllmServers(tuple(name.split(",")))
        case "shipped" if name:
            return _shipped(name, text)
        case "torch" if name:
            return TorchModel(model_of(name), text)
        case _ if Path(text).is_dir():
            return TorchModel(model_of(text), text)
    raise UserError(f"unknown policy {text!r}: use {KNOWN}")
