"""From options to who does what and how fast: engines, learners, cores, and the seconds of everything they do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clickgrad.errors import UserError
from clickgrad.planning import figures
from clickgrad.planning.figures import MEASURED, Figures
from clickgrad.planning.options import Options
from clickgrad.planning.simulation import EngineCosts, Machine, Work
from clickgrad.policy.sizes import Model, find_model

WORKER_CORES = 2  # for every process that drives browsers
BENCH_PASSES = 4  # of `bench learn`: an adapter, no reference


@dataclass(frozen=True, slots=True)
class Setup:
    options: Options
    model: Model
    gpu: Figures | None  # the data sheet; None: all share the cores of a machine that was measured
    machine: Machine
    learners: int  # 0: nobody learns
    token_s: float  # of all learners together, forward and backward
    push_s: float
    session_mb: float  # of a browser session with its world
    sources: str  # where the speeds come from, in a sentence

    def step_s(self, rollout_s: float, update_s: float) -> float:
        # On a CPU sampling and learning at the same time share the cores: nothing is gained by running ahead.
        ahead = self.options.ahead and self.gpu
        return (max(rollout_s, update_s) if ahead else rollout_s + update_s) + self.push_s


def set_up(options: Options, samples: bool = True, learns: bool = True) -> Setup:
    gpu, model, shipped = figures.find_gpu(options.device), find_model(options.model), figures.shipped()
    yours = figures.read_measured(Path(options.measured)) if options.measured else {}
    measured = shipped["measured"][MEASURED] | yours
    browser, sources = measured["browser"], f"{' and '.join(yours)} measured in {options.measured}" if yours else ""
    engines, learners = _shared_out(options, gpu, samples, learns)
    if gpu:
        engine, token_s, push_s = _assumed(options, model, gpu, shipped["assumed"])
        sources = sources or f"browsers measured on {MEASURED}"
        sources = f"{options.device} ASSUMED from its data sheet, not measured; {sources}"
    else:
        engine, token_s, push_s = _measured(options, model, measured["engine"], measured["learn"])
        sources = f"{sources + '; the rest ' if yours else ''}measured on {MEASURED} (SmolLM2-135M, fp32)"
    opening, turn = (_work(browser, deed, options.site_wait_s) for deed in ("open", "turn"))
    cores = options.cores or shipped["measured"][MEASURED]["engine"]["threads"]
    return Setup(
        options=options,
        model=model,
        gpu=gpu,
        machine=Machine(engines, engine, opening, turn, cores),
        learners=learners,
        token_s=token_s / max(learners, 1),
        push_s=push_s if learners else 0.0,
        session_mb=browser["session_mb"] + measured["worlds"]["rss_mb_per_world"],
        sources=f"speeds: {sources}",
    )


def _shared_out(options: Options, gpu: Figures | None, samples: bool, learns: bool) -> tuple[int, int]:
    """How many sample and how many learn."""
    if not gpu:
        if options.gpus or options.learners:
            given = "gpus" if options.gpus else "learners"
            raise UserError(f"--{given}: {options.device} is no GPU; name one with --device, as a100-80gb")
        return int(samples), int(learns)
    if not options.gpus:
        raise UserError(f"--gpus: how many {options.device} are there?")
    if not options.cores:
        raise UserError("--cores: how many processor cores are there for the browsers?")
    learners = (options.learners or max(1, options.gpus // 2)) if learns else 0
    if learners >= options.gpus:
        raise UserError(f"--learners {learners} of --gpus {options.gpus}: none is left to sample")
    return (options.gpus - learners if samples else 0), learners


def passes(options: Options) -> int:
    """Operations of a token on every weight: forward 2, back to the inputs 2, to the weights 2. Each other pass 2."""
    return (4 if options.lora_rank else 6) + 2 * options.reference + 2 * options.recompute


def _measured(options: Options, model: Model, engine: Figures, learn: Figures) -> tuple[EngineCosts, float, float]:
    """An engine, and a learner's seconds for a token and for a push. Models in proportion to that of the benches.

    Reading: a line through 256 and 768 tokens. Drawing: a plane through 1 row of 256, 16 of 256 and 16 of 768.
    """
    like = find_model(figures.MEASURED_MODEL)
    body, whole = model.body / like.body, (model.body + model.head) / (like.body + like.head)
    token_ms = (engine["read_ms_768"] - engine["read_ms_256"]) / 512
    context_ms = max((engine["draw_ms_16x768"] - engine["draw_ms_16x256"]) / (16 * 512), 0.0)
    row_ms = max((engine["draw_ms_16x256"] - engine["draw_ms_1x256"]) / 15 - 256 * context_ms, 0.0)
    costs = EngineCosts(
        prompt_s=max(engine["read_ms_256"] - 256 * token_ms, 0.0) / 1000,
        token_s=token_ms / 1000 * body,
        step_s=max(engine["draw_ms_1x256"] - row_ms - 256 * context_ms, 0.0) / 1000 * whole,
        row_s=row_ms / 1000 * whole,
        context_s=context_ms / 1000 * (model.cached / like.cached),
        max_rows=0,
        cores=engine["busy_cores"],
    )
    token_s = learn["s_comb"] / learn["tokens_comb"] * body * passes(options) / BENCH_PASSES
    return costs, token_s, engine["swap_ms"] / 1000 * body


def _assumed(options: Options, model: Model, gpu: Figures, share: Figures) -> tuple[EngineCosts, float, float]:
    """The same by the data sheet and the share of it that is assumed to be reached."""
    flops, read = gpu["flops"] * share["reading"], gpu["bytes_per_s"] * share["drawing"]
    costs = EngineCosts(
        prompt_s=share["prompt_s"],
        token_s=2 * model.body / flops,
        pair_s=4 * model.attended / flops / 2,  # scores and sums; on average a token sees half
        step_s=share["step_s"] + 2 * (model.body + model.head) / read,  # two bytes a weight
        row_s=2 * (model.body + model.head) / flops,
        context_s=2 * model.cached / read,
    )
    # New weights, float32 as they are trained, are written once and read once by all engines side by side.
    push_s = 2 * 4 * model.trained(options.lora_rank) / share["push_bytes_per_s"]
    return costs, passes(options) * model.body / (gpu["flops"] * share["learning"]), push_s


def _work(browser: Figures, deed: str, site_wait_s: float) -> Work:
    """Alone, what was not work was waiting. Work of several processes at once may even exceed the time it took."""
    alone_ms, core_ms = browser[f"pocket_{deed}_ms"], browser[f"pocket_{deed}_core_ms"]
    # One process drives all browsers of a worker and is the last to be free: a worker's cores are never all busy.
    idle = max(WORKER_CORES / browser["pocket_busy_cores"], 1.0)
    return Work(core_ms / 1000 * idle, max(alone_ms - core_ms, 0.0) / 1000 + site_wait_s)
