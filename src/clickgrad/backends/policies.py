"""Which policy the user means, parsed once, and how each kind is opened by the options: scripted, loaded, asked."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from clickgrad.agent.lenient import Grammar
from clickgrad.agent.prompt import PromptBuilder, Tokenizer
from clickgrad.config import Config
from clickgrad.display import say
from clickgrad.errors import UserError, warn
from clickgrad.integrity import write_whole
from clickgrad.policy.protocol import Policy
from clickgrad.policy.scripted import ExpertPolicy, noop_policy, replies_policy
from clickgrad.policy.spec import Compute, ModelSpec
from clickgrad.policy.spending import Metered
from clickgrad.report.metrics import Metrics
from clickgrad.run_layout import COMPUTE, SPENDING, model_of

if TYPE_CHECKING:  # torch and httpx are loaded only by those who use them
    from clickgrad.policy.chat import ChatEngine

OPENAI = "https://api.openai.com/v1"
KNOWN = (
    "scripted:expert, scripted:noop, torch:smollm2, torch:<folder or hub id>, vllm:<url>, chat:<model>, "
    "shipped:<name>, or a run folder"
)


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


# --- opened by the options --------------------------------------------------------------------------------------------


def prompt_builder(config: Config, tokenizer: Tokenizer | None) -> PromptBuilder:
    agent = config.agent
    grammar = Grammar(agent.reply_format, agent.actions, agent.grammar)
    return PromptBuilder(tokenizer, agent.reply_format, agent.system, agent.page_tokens, grammar, agent.rendering)


@contextmanager
def open_policy(spec: PolicySpec, config: Config) -> Iterator[tuple[Policy, PromptBuilder]]:
    """A policy and what makes its prompts."""
    policy, tokenizer = _opened(spec, config)
    try:
        yield policy, prompt_builder(config, tokenizer)
    finally:
        policy.close()


def _opened(spec: PolicySpec, config: Config) -> tuple[Policy, Tokenizer | None]:
    match spec:
        case Scripted() | Replies():
            return open_scripted(spec, config), None
        case ChatModel():
            return open_chat(config, spec), None
        case VllmServers(urls):
            require_httpx()
            from clickgrad.policy.vllm_engine import VllmEngine

            servers = VllmEngine(urls, most_tokens=config.model.context_tokens)
            return servers, servers.tokenizer
        case TorchModel(source):
            from clickgrad.policy.models import load
            from clickgrad.policy.torch_engine import TorchEngine

            loaded = load(model_spec(config, source))
            return TorchEngine(loaded, name=str(spec), max_rows=config.rollout.concurrency), loaded.tokenizer


def open_scripted(spec: Scripted | Replies, config: Config) -> Policy:
    if isinstance(spec, Replies):
        return replies_policy(str(spec), spec.file)
    return (ExpertPolicy if spec.name == "expert" else noop_policy)(config.agent.reply_format)


def model_spec(config: Config, source: str) -> ModelSpec:
    """Where it lies and how it computes. A run folder stands for the model it made."""
    options = config.model
    return ModelSpec(
        model_of(source),
        options.device,
        options.dtype,
        options.threads,
        options.context_tokens,
        settled_compute(config),
    )


def settled_compute(config: Config) -> Compute:
    """`auto` is what this machine is fastest with; a GPU computes in the model's own type."""
    if config.model.dtype == "bfloat16":
        return "bfloat16"
    if config.model.compute == "auto":
        from clickgrad.policy.packed import fastest

        return fastest().compute if _on_cpu(config) else "float32"
    return _possible(config, config.model.compute)


def settle_compute(config: Config, run: Path) -> Config:
    """`model.compute = "auto"` is measured once in a run: one that is resumed goes on as it began, where it can."""
    wanted = _measured(config, run) if config.model.compute == "auto" else config.model.compute
    compute = wanted if config.model.dtype == "bfloat16" else _possible(config, wanted)
    if compute != wanted:
        warn(f"this CPU has no fast products in {wanted}: {compute} instead")
    return config.model_copy(update={"model": config.model.model_copy(update={"compute": compute})})


def _measured(config: Config, run: Path) -> Compute:
    file = run / COMPUTE
    try:
        compute: Compute = json.loads(file.read_text())["compute"]
        if compute not in get_args(Compute):
            raise ValueError(compute)
    except (OSError, ValueError, KeyError, TypeError):
        from clickgrad.policy.packed import fastest

        compute = settled_compute(config)
        gain = fastest().gain if compute != "float32" else 1.0
        write_whole(file, json.dumps({"compute": compute, "gain": round(gain, 2)}))
        if compute != "float32":
            say(f"products in {compute}: {gain:.1f} times as fast as in float32 on this machine")
    return compute


def _possible(config: Config, wanted: Compute) -> Compute:
    """float32 where the CPU would compute in bfloat16 by converting to and fro, many times slower."""
    if wanted != "bfloat16" or not _on_cpu(config):
        return wanted
    from clickgrad.policy.packed import knows_bfloat16

    return "bfloat16" if knows_bfloat16() else "float32"


def _on_cpu(config: Config) -> bool:
    from clickgrad.policy.device import choose_device

    return choose_device(config.model.device).type == "cpu"


def require_httpx() -> None:
    if importlib.util.find_spec("httpx") is None:
        raise UserError("vLLM servers are spoken to with httpx, which is missing: pip install 'clickgrad[vllm]'")


# --- hosted models --------------------------------------------------------------------------------------------------


def open_chat(config: Config, spec: ChatModel) -> ChatEngine:
    from clickgrad.policy.chat import ChatEngine, Endpoint

    options = config.chat
    url = options.url or os.environ.get("OPENAI_BASE_URL") or OPENAI
    key = os.environ.get("OPENAI_API_KEY", "")
    if url == OPENAI and not key:
        raise UserError(f"{spec} needs a key: set OPENAI_API_KEY, or chat.url to an endpoint of your own")
    return ChatEngine(
        Endpoint(
            url,
            spec.model,
            key,
            options.reasoning,
            options.concurrency,
            options.requests_per_minute,
            options.timeout_s,
            options.tries,
            give_up_s=config.rollout.reply_s,
        )
    )


@contextmanager
def metered(config: Config, policy: Policy, folder: Path, quiet: bool = False) -> Iterator[None]:
    """What the block cost, if the policy costs anything: a row in the folder and a line to read, also if it fails."""
    try:
        yield
    finally:
        if isinstance(policy, Metered):
            prices = config.chat.input_price, config.chat.output_price
            Metrics(folder / SPENDING).append(asdict(policy.spent) | {"cost": policy.spent.cost(*prices)})
            if not quiet:
                say(f"{policy.name}: {policy.spent.text(*prices)}")
