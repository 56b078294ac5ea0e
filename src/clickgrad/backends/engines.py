"""Who samples from a policy in training: the engine in this process, or vLLM servers, to which weights are pushed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clickgrad.backends.policies import require_httpx
from clickgrad.config import Config
from clickgrad.display import say
from clickgrad.errors import UserError
from clickgrad.policy.protocol import TrainedPolicy
from clickgrad.run_layout import PUSHED, SERVER_LOG

if TYPE_CHECKING:  # torch and httpx are loaded only by those who use them
    from clickgrad.learn.learner import LocalLearner
    from clickgrad.policy.vllm_server import VllmServer


@contextmanager
def open_engine(config: Config, learner: LocalLearner, run: Path) -> Iterator[TrainedPolicy]:
    """The policy that `learner` becomes, until the block ends."""
    with ENGINES[config.reinforce.engine](config, learner, run) as policy, closing(policy):
        yield policy


def refuse_useless(config: Config) -> None:
    """An engine that there is none of; options of one engine beside the other, which would do nothing."""
    options = config.reinforce
    if options.engine not in ENGINES:
        raise UserError(f"reinforce.engine={options.engine!r}: known are {', '.join(ENGINES)}")
    if options.engine == "torch" and (options.servers or options.vllm_options):
        raise UserError("reinforce.servers and vllm_options do nothing without reinforce.engine = 'vllm'")
    if options.servers and options.vllm_options:
        raise UserError("reinforce.vllm_options are for a server that is started: leave out reinforce.servers")
    if config.model.compute == "int8" and options.engine != "torch":
        raise UserError("model.compute='int8' does nothing without reinforce.engine = 'torch'")
    if options.servers and config.cluster.address:
        raise UserError("reinforce.servers: on a cluster the engines are started by it; leave the servers out")


@contextmanager
def _open_torch(config: Config, learner: LocalLearner, run: Path) -> Iterator[TrainedPolicy]:
    from clickgrad.policy.torch_engine import TorchEngine

    options = config.reinforce
    yield TorchEngine(
        learner.sampler,
        max_rows=config.rollout.concurrency,
        threads=share_threads() if options.max_staleness else 0,
    )


@contextmanager
def _open_vllm(config: Config, learner: LocalLearner, run: Path) -> Iterator[TrainedPolicy]:
    require_httpx()
    from clickgrad.policy.vllm_engine import Push, VllmEngine

    start = learner.sampler.source
    push = Push("adapter" if config.lora.rank else "full", learner.save_for_sampling, run / PUSHED)
    with ExitStack() as stack:
        urls = config.reinforce.servers or [stack.enter_context(start_server(config, start, run / SERVER_LOG)).url]
        most_tokens = config.model.context_tokens
        yield VllmEngine(urls, learner.tokenizer, name=f"vllm:{start}", push=push, most_tokens=most_tokens)


ENGINES = {"torch": _open_torch, "vllm": _open_vllm}


def start_server(config: Config, start: str, log: Path) -> VllmServer:
    """On this machine; ends with the block it is entered for."""
    import torch

    from clickgrad.policy.models import locate
    from clickgrad.policy.vllm_server import CPU_OPTIONS, VllmServer

    model = locate(start)
    if isinstance(model, Path) and not (model / "config.json").is_file():
        raise UserError(
            f"vLLM cannot start from {start}: an adapter's folder; use its base, or reinforce.engine='torch'"
        )
    on_gpu = torch.cuda.is_available()
    return VllmServer(
        str(model),
        log,
        dtype="bfloat16" if on_gpu else "float32",
        lora_rank=config.lora.rank,
        context_tokens=config.model.context_tokens,
        options=[
            *(() if on_gpu else CPU_OPTIONS),
            *("--max-num-seqs", str(config.rollout.concurrency)),
            *config.reinforce.vllm_options,
        ],
        tell=say,
    )


def share_threads() -> int:
    """Halve torch's threads, for sampling and learning at the same time; returns the half that is left."""
    import torch

    half = max(1, torch.get_num_threads() // 2)
    torch.set_num_threads(half)
    return half
