"""Who samples and who learns on which GPU: planned once, from their number and memory and from the model's size.

Either the first GPUs learn and the others sample, one vLLM server each; or all do both in turn, the servers asleep
while the policy learns. Apart is preferred where it fits: nothing has to be woken. Turns need more of each GPU, but
use all of them, so they are what is left when a share of the GPUs is too few to learn on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from clickgrad.backends.gpus import Gpu, gpus_here, refuse_mixed
from clickgrad.backends.memory import (
    ASLEEP_GB,
    BFLOAT16,
    FLOAT32,
    SPARE,
    EngineGb,
    LearnerGb,
    Learning,
    engine_gb,
    learner_gb,
)
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.policy.sizes import Model, find_model, is_known

Mode = Literal["separate", "shared"]
LEAST_ROWS = 2  # replies of full length that an engine has room for, so that it never answers one by one
ADAPTER_RANK = 32  # that is proposed where all parameters do not fit


@dataclass(frozen=True, slots=True)
class Machine:
    """Equal GPUs on equal nodes."""

    nodes: int
    gpus: int  # of a node
    gpu_gb: float

    @property
    def total(self) -> int:
        return self.nodes * self.gpus

    @property
    def usable_gb(self) -> float:
        return SPARE * self.gpu_gb

    def __str__(self) -> str:
        nodes = f"{self.nodes}x" if self.nodes > 1 else ""
        return f"{nodes}{self.gpus} GPU{'s' if self.total > 1 else ''} of {self.gpu_gb:.0f} GB"


@dataclass(frozen=True, slots=True)
class Load:
    """What is to be placed."""

    model: Model
    learning: Learning
    context: int  # the longest prompt with its reply


@dataclass(frozen=True, slots=True)
class Placement:
    mode: Mode
    machine: Machine
    learners: int  # GPUs, the first ones
    engines: int  # GPUs, one vLLM server each: the last ones, or all where they take turns
    learner: LearnerGb
    engine: EngineGb

    @property
    def learning_gb(self) -> float:
        """On a GPU that learns, while it does."""
        return self.learner.total + (ASLEEP_GB if self.mode == "shared" else 0.0)

    @property
    def engine_room_gb(self) -> float:
        """What a server may take."""
        return self.machine.usable_gb - (self.learner.state if self.mode == "shared" else 0.0)

    @property
    def memory_share(self) -> float:
        """Of a GPU, for a server: its --gpu-memory-utilization. Rounded down."""
        return int(100 * max(0.0, self.engine_room_gb) / self.machine.gpu_gb) / 100

    @property
    def rows(self) -> int:
        """Replies of full length that one server has room for at once."""
        return self.engine.rows(self.engine_room_gb)

    def fault(self) -> str:
        """What does not fit; "" if all does."""
        usable = self.machine.usable_gb
        if self.learning_gb > usable:
            return f"a learner needs {self.learning_gb:.1f} of {usable:.1f} GB"
        if self.rows < LEAST_ROWS:
            needed = self.engine.holding(LEAST_ROWS)
            return f"an engine needs {needed:.1f} of the {max(0.0, self.engine_room_gb):.1f} GB left for it"
        return ""

    @property
    def lack_gb(self) -> float:
        """On a GPU; 0 if all fits."""
        lacks = self.learning_gb - self.machine.usable_gb, self.engine.holding(LEAST_ROWS) - self.engine_room_gb
        return max(0.0, *lacks)

    def words(self) -> str:
        """For a table: who, and GB a device."""
        sampling = self.engine.holding(LEAST_ROWS)
        if self.mode == "shared":
            held = max(self.learning_gb, self.learner.state + sampling)
            return f"{self.engines} in turn {held:.1f}"
        return f"{self.learners} learn {self.learning_gb:.1f}, {self.engines} sample {sampling:.1f}"

    def lines(self) -> Iterator[str]:
        usable, parts = self.machine.usable_gb, self.learner
        who = (
            f"all {self.engines} sample and learn in turn"
            if self.mode == "shared"
            else f"the first {self.learners} learn, the last {self.engines} sample"
        )
        yield f"placement on {self.machine}: {who}"
        asleep = f", a sleeping server {ASLEEP_GB:.1f}" if self.mode == "shared" else ""
        yield (
            f"  learning: {self.learning_gb:.1f} of {usable:.1f} GB a GPU (state {parts.state:.1f}, gathered "
            f"{parts.gathered:.1f}, activations {parts.activations:.1f}{asleep})"
        )
        yield (
            f"  sampling: share {self.memory_share:.2f} of a GPU's memory, weights {self.engine.weights:.1f} GB, room "
            f"for {self.rows} replies of full length at once"
        )


def place(load: Load, machine: Machine, mode: str = "auto", learners: int = 0) -> Placement:
    """The first that fits: apart, the learners nearest to half; then in turn. Else the one that lacks least.

    Taking turns is for one node: on several, a cluster's engines and learners have GPUs of their own.
    """
    half = machine.total / 2
    counts = [learners] if learners else sorted(range(1, machine.total), key=lambda n: (abs(n - half), -n))
    tried = [_placed(load, machine, "separate", n) for n in counts if n < machine.total and mode != "shared"]
    if machine.nodes == 1 and mode != "separate" and learners in (0, machine.total):
        tried.append(_placed(load, machine, "shared", machine.total))
    if not tried:
        raise UserError(
            f"placement.mode={mode!r} and placement.learners={learners} leave no GPU of {machine} to sample on: "
            "leave them out"
        )
    fitting = [one for one in tried if not one.fault()]
    return fitting[0] if fitting else min(tried, key=lambda one: one.lack_gb)


def _placed(load: Load, machine: Machine, mode: Mode, learners: int) -> Placement:
    engines = machine.total if mode == "shared" else machine.total - learners
    learner, engine = learner_gb(load.model, load.learning, learners), engine_gb(load.model, load.context)
    return Placement(mode, machine, learners, engines, learner, engine)


def fitting(load: Load, machine: Machine, mode: str = "auto", learners: int = 0) -> Placement:
    """As `place`; raises UserError in one line, with a setting that would fit, when nothing does."""
    placement = place(load, machine, mode, learners)
    if fault := placement.fault():
        raise UserError(f"{load.model.name} does not fit on {machine}: {fault}; {way_out(load, machine)}")
    return placement


def way_out(load: Load, machine: Machine) -> str:
    """The mildest setting with which it would fit, by the same arithmetic."""
    learning = load.learning
    for words, other in (
        ("learner.recompute=true", replace(learning, recompute=True)),
        ("reinforce.kl_beta=0", replace(learning, recompute=True, reference=False)),
    ):
        if other != learning and not place(replace(load, learning=other), machine).fault():
            return f"set {words}"
    for divisor in (2, 4):
        tokens, context = learning.tokens // divisor, load.context // divisor
        shorter = replace(load, learning=replace(learning, tokens=tokens, recompute=True), context=context)
        if not place(shorter, machine).fault():
            return f"set model.context_tokens={context}, agent.page_tokens={context // 2} and micro_tokens={tokens}"
    adapted = replace(load, learning=replace(learning, lora_rank=ADAPTER_RANK, recompute=True))
    if not place(adapted, machine).fault():
        return f"set lora.rank={ADAPTER_RANK}"
    for total in (2, 4, 8):
        if total > machine.total and not place(load, replace(machine, gpus=total)).fault():
            return f"it fits on {total} such GPUs"
    return "take GPUs with more memory, or a smaller model"


def load_of(config: Config, source: str) -> Load:
    """By the options of a run. Raises UserError when the model's size is not known."""
    model = find_model(planned_name(source))
    context = config.model.context_tokens or config.reinforce.micro_tokens
    tokens = max(config.reinforce.micro_tokens, context)
    rounds = "bfloat16" in (config.model.compute, config.model.dtype)
    learning = Learning(
        config.lora.rank,
        config.reinforce.kl_beta > 0,
        config.learner.recompute,
        tokens,
        min(tokens, config.agent.max_new_tokens),
        BFLOAT16 if rounds else FLOAT32,
    )
    return Load(model, learning, context)


def machine_of(gpus: tuple[Gpu, ...]) -> Machine:
    refuse_mixed(gpus)
    return Machine(1, len(gpus), min(gpu.memory_gb for gpu in gpus))


def assumed_machine(text: str) -> Machine:
    """`8x80` is eight GPUs of 80 GB, `2x8x40` two nodes with eight of 40."""
    match = re.fullmatch(r"(?:(\d+)x)?(\d+)x(\d+)", text)
    if not match or not all(int(part or 1) for part in match.groups()):
        raise UserError(f"placement.assume={text!r}: write GPUs x GB, as 8x80, or nodes x GPUs x GB, as 2x8x40")
    nodes, gpus, gpu_gb = (int(part or 1) for part in match.groups())
    return Machine(nodes, gpus, gpu_gb)


def placement_here(config: Config, source: str) -> Placement | None:
    """Of this run, on the GPUs of this machine: None without any, or where no vLLM server is started.

    `torchrun` has started a process for every GPU that learns: where it started another number than was planned, that
    number has to fit, too.
    """
    options = config.reinforce
    if options.engine != "vllm" or options.servers or config.cluster.address or config.model.device == "cpu":
        return None
    gpus = gpus_here()
    if not gpus:
        return None
    machine, load = machine_of(gpus), load_of(config, _described(source))
    mode, wanted, started = config.placement.mode, config.placement.learners, int(os.environ.get("WORLD_SIZE", "1"))
    best = fitting(load, machine, mode, wanted)
    if started == best.learners:
        return best
    other = place(load, machine, mode, started) if started <= machine.total and not wanted else best
    if other.learners != started or other.fault():
        raise UserError(
            f"{started} process{'es' if started > 1 else ''} for {best.learners} GPUs that learn on {machine}: start "
            f"it with torchrun --nproc-per-node {best.learners} -m -- clickgrad ..."
        )
    return other


def _described(source: str) -> str:
    """A model whose size is known, or the folder of its configuration, which is fetched from the hub."""
    if Path(source).is_dir() or is_known(planned_name(source)):
        return source
    import huggingface_hub

    try:
        return str(Path(huggingface_hub.hf_hub_download(source, "config.json")).parent)
    except (OSError, ValueError, huggingface_hub.errors.HfHubHTTPError) as error:
        raise UserError(f"model {source!r} cannot be placed: its config.json is not to be had ({error})") from error


def planned_name(path: str) -> str:
    """Of a model at a hub, as the sizes know it (Qwen/Qwen2.5-3B-Instruct is qwen2.5-3b); a folder as it is."""
    return path if Path(path).is_dir() else path.rpartition("/")[2].lower().removesuffix("-instruct")
