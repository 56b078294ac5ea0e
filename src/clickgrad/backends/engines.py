"""Who samples from a policy in training: the engine in this process, or vLLM servers, to which weights are pushed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.backends.gpus import gpus_here
from clickgrad.backends.placement import Placement, placement_here
from clickgrad.backends.policies import PolicySpec, TorchModel, open_policy, prompt_builder, require_httpx
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.policy.protocol import Policy, TrainedPolicy
from clickgrad.run_layout import PUSHED, SERVER_LOG, model_of

EVALUATION_SHARE = 0.85  # of a GPU's memory: under torchrun the ranks' own contexts lie beside

if TYPE_CHECKING:  # torch and httpx are loaded only by those who use them
    from clickgrad.learn.learner import LocalLearner
    from clickgrad.policy.vllm_channel import Transport
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
    if options.engine == "torch" and options.transfer != "auto":
        raise UserError("reinforce.transfer does nothing without reinforce.engine = 'vllm'")
    if options.servers and options.vllm_options:
        raise UserError("reinforce.vllm_options are for a server that is started: leave out reinforce.servers")
    if config.placement.assume:
        raise UserError("placement.assume is for --dry-run: a run takes the GPUs that are there")
    if config.model.compute == "int8" and options.engine != "torch":
        raise UserError("model.compute='int8' does nothing without reinforce.engine = 'torch'")
    if options.servers and config.cluster.address:
        raise UserError("reinforce.servers: on a cluster the engines are started by it; leave the servers out")


def refuse_unready(config: Config, start: str) -> None:
    """What this machine lacks for the engine, before anything is loaded: vLLM, its version, memory on the GPUs."""
    if config.reinforce.engine != "vllm" or config.reinforce.servers or config.cluster.address:
        return
    from clickgrad.policy.vllm_server import refuse_other_vllm

    refuse_other_vllm()
    placement = placement_here(config, model_of(start))
    if placement and placement.mode == "shared" and config.reinforce.max_staleness:
        raise UserError(
            "reinforce.max_staleness: GPUs that sample and learn in turn cannot do both at once; set it to 0, or "
            "placement.mode='separate'"
        )


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
    from clickgrad.policy.vllm_engine import Push, VllmEngine, Wire

    start = learner.sampler.source
    placement = placement_here(config, start)
    transport = choose_transport(config, placement)
    wire = Wire(transport, learner.outline, learner.send_weights) if transport else None
    push = Push("adapter" if config.lora.rank else "full", learner.save_for_sampling, run / PUSHED, wire)
    with ExitStack() as stack:
        urls = config.reinforce.servers
        if not urls:
            servers = [start_server(config, start, log, seat, transport) for log, seat in _seats(placement, run)]
            urls = [server.url for server in _entered(stack, servers)]
        yield VllmEngine(
            urls,
            learner.tokenizer,
            name=f"vllm:{start}",
            push=push,
            most_tokens=config.model.context_tokens,
            sleeps=placement is not None and placement.mode == "shared",
        )


def choose_transport(config: Config, placement: Placement | None) -> Transport | None:
    """How weights go straight to servers; None where they cannot, and files are written.

    Adapters are small, and loaded from files by vLLM's own endpoint. A server that was there before may lie anywhere.
    NCCL refuses two processes on one GPU, so where GPUs take turns it is files, too.
    """
    if config.reinforce.transfer == "files" or config.lora.rank or config.reinforce.servers:
        return None
    import torch

    if not torch.cuda.is_available():
        return "gloo"
    separate = placement is not None and placement.mode == "separate"
    return "nccl" if separate and torch.distributed.is_nccl_available() else None


ENGINES = {"torch": _open_torch, "vllm": _open_vllm}


@contextmanager
def open_evaluated(spec: PolicySpec, config: Config, run: Path) -> Iterator[tuple[Policy, PromptBuilder]]:
    """The policy of an evaluation, and what makes its prompts: vLLM serves a model of ours where that is asked."""
    if not isinstance(spec, TorchModel) or config.evaluate.engine == "torch":
        with open_policy(spec, config) as opened:
            yield opened
        return
    require_httpx()
    from clickgrad.policy.device import give_back_memory
    from clickgrad.policy.vllm_engine import VllmEngine

    give_back_memory()  # of a learner that was here before
    seats = [Seat(gpu.index, EVALUATION_SHARE) for gpu in gpus_here()] or [Seat()]
    with ExitStack() as stack:
        servers = [
            _server(spec.source, log, seat, [], config.model.context_tokens, config.rollout.concurrency)
            for log, seat in zip(_logs(run, len(seats)), seats, strict=True)
        ]
        urls = [server.url for server in _entered(stack, servers)]
        engine = VllmEngine(urls, name=str(spec), most_tokens=config.model.context_tokens)
        with closing(engine):
            yield engine, prompt_builder(config, engine.tokenizer)


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a server sits: a GPU and its share of it. The default is wherever vLLM likes."""

    gpu: str = ""
    memory_share: float = 0.0
    sleeps: bool = False

    def words(self) -> list[str]:
        share = ["--gpu-memory-utilization", f"{self.memory_share:.2f}"] if self.memory_share else []
        return share + (["--enable-sleep-mode"] if self.sleeps else [])


def _seats(placement: Placement | None, run: Path) -> list[tuple[Path, Seat]]:
    if placement is None:
        return [(run / SERVER_LOG, Seat())]
    chosen = gpus_here()[-placement.engines :]
    seats = [Seat(gpu.index, placement.memory_share, placement.mode == "shared") for gpu in chosen]
    return list(zip(_logs(run, len(seats)), seats, strict=True))


def _logs(run: Path, count: int) -> list[Path]:
    """vllm.log, or vllm-0.log, vllm-1.log, ..."""
    name = Path(SERVER_LOG)
    return [run / (SERVER_LOG if count == 1 else f"{name.stem}-{number}{name.suffix}") for number in range(count)]


def _entered(stack: ExitStack, servers: Sequence[VllmServer]) -> list[VllmServer]:
    """All are started before the first is waited for: a large model takes minutes."""
    with ThreadPoolExecutor(len(servers)) as pool:
        futures = [pool.submit(stack.enter_context, server) for server in servers]
    return [future.result() for future in futures]


def start_server(
    config: Config, start: str, log: Path, seat: Seat | None = None, transport: Transport | None = None
) -> VllmServer:
    """On this machine, for a policy in training; ends with the block it is entered for."""
    options = config.reinforce.vllm_options
    context, rows = config.model.context_tokens, config.rollout.concurrency
    return _server(start, log, seat or Seat(), options, context, rows, config.lora.rank, transport)


def _server(
    start: str,
    log: Path,
    seat: Seat,
    options: Sequence[str],
    context: int,
    rows: int,
    lora_rank: int = 0,
    transport: Transport | None = None,
) -> VllmServer:
    import torch

    from clickgrad.policy.models import locate
    from clickgrad.policy.vllm_server import CPU_OPTIONS, VllmServer

    model = locate(start)
    if isinstance(model, Path) and not (model / "config.json").is_file():
        raise UserError(f"vLLM cannot start from {start}: an adapter's folder; use its base, or the torch engine")
    on_gpu = torch.cuda.is_available()
    return VllmServer(
        str(model),
        log,
        dtype="bfloat16" if on_gpu else "float32",
        lora_rank=lora_rank,
        context_tokens=context,
        options=[*(() if on_gpu else CPU_OPTIONS), "--max-num-seqs", str(rows), *seat.words(), *options],
        transport=transport,
        gpu=seat.gpu,
    )


def share_threads() -> int:
    """Halve torch's threads, for sampling and learning at the same time; returns the half that is left."""
    import torch

    half = max(1, torch.get_num_threads() // 2)
    torch.set_num_threads(half)
    return half
