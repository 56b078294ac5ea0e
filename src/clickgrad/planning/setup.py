"""From options to who does what: which device samples, which learns, how fast, and how many browsers there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clickgrad.errors import UserError
from clickgrad.planning.constants import (
    Device,
    Figures,
    Host,
    LearnCosts,
    Model,
    assumed_engine,
    assumed_learner,
    figures_of,
    find_device,
    find_model,
    measured_engine,
    measured_host,
    measured_learner,
    passes,
    read_measured,
)
from clickgrad.planning.likeness import Likeness
from clickgrad.planning.options import Options
from clickgrad.planning.simulation import EngineCosts, Machine

HOST_FIGURES = "cpu-2core"  # whose browsers and worlds were measured


@dataclass(frozen=True, slots=True)
class Learning:
    learners: int  # 0: nobody learns
    rank: int
    reference: bool
    ahead: bool  # sampling goes on during updates
    micro_tokens: int
    recompute: bool

    @property
    def passes(self) -> int:
        return passes(self.rank > 0, self.reference, self.recompute)


@dataclass(frozen=True, slots=True)
class Setup:
    model: Model
    device: Device
    browsers: int
    machine: Machine
    learning: Learning
    learn: LearnCosts
    host: Host
    sources: str  # where the speeds come from, in a sentence


def set_up(options: Options, likeness: Likeness | None, episodes: int) -> Setup:
    """`episodes` of a step: so many browsers there are if nothing else is said."""
    device, model = find_device(options.device), find_model(options.model or (likeness.model if likeness else ""))
    measured = read_measured(options.measured) if options.measured else {}
    figures = figures_of(device.name if device.measured else HOST_FIGURES, measured)
    engines, learners = _shared_out(options, device, likeness)
    learning = _learning(options, likeness, learners)
    host = measured_host(figures["browser"], figures["worlds"], options.site_wait_s)
    engine, learn = _speeds(device, model, learning, figures)
    return Setup(
        model=model,
        device=device,
        browsers=options.browsers or (likeness.browsers if likeness else episodes),
        machine=Machine(engines, engine, host.browser, options.cores or device.cores),
        learning=learning,
        learn=learn,
        host=host,
        sources=_sources(device, measured, options),
    )


def _shared_out(options: Options, device: Device, likeness: Likeness | None) -> tuple[int, int]:
    """How many sample and how many learn."""
    learns, samples = likeness is None or likeness.learns, likeness is None or not likeness.scripted
    if device.measured:
        given = next((name for name in ("gpus", "learners") if getattr(options, name) is not None), None)
        if given:
            raise UserError(f"--{given}: {device.name} is no GPU; name one with --device, as a100-80gb")
        return int(samples), int(learns)
    if options.gpus is None:
        raise UserError(f"--gpus: how many {device.name} are there?")
    if options.cores is None:
        raise UserError("--cores: how many processor cores are there for the browsers?")
    learners = (options.learners or max(1, options.gpus // 2)) if learns else 0
    if learners >= options.gpus:
        raise UserError(f"--learners {learners} of --gpus {options.gpus}: none is left to sample")
    return (options.gpus - learners if samples else 0), learners


def _learning(options: Options, likeness: Likeness | None, learners: int) -> Learning:
    if likeness:
        return Learning(
            learners,
            rank=likeness.rank,
            reference=likeness.reference,
            ahead=likeness.ahead,
            micro_tokens=likeness.micro_tokens,
            recompute=likeness.recompute,
        )
    return Learning(
        learners,
        rank=options.number("lora_rank"),
        reference=bool(options.reference),
        ahead=bool(options.ahead),
        micro_tokens=options.number("micro_tokens"),
        recompute=bool(options.recompute),
    )


def _speeds(
    device: Device, model: Model, learning: Learning, figures: Mapping[str, Figures]
) -> tuple[EngineCosts, LearnCosts]:
    if device.measured:
        return (
            measured_engine(figures["engine"], model),
            measured_learner(figures["learn"], figures["engine"], model, learning.passes),
        )
    return assumed_engine(device.name, model), assumed_learner(device.name, model, learning.rank, learning.passes)


def _sources(device: Device, measured: Mapping[str, Figures], options: Options) -> str:
    yours = f"{' and '.join(measured)} measured in {options.measured}" if measured else ""
    if device.measured:
        return f"speeds: {yours + '; the rest ' if yours else ''}measured on {device.name} (SmolLM2-135M, fp32)"
    browsers = yours or f"browsers measured on {HOST_FIGURES}"
    return f"speeds: {device.name} ASSUMED from its data sheet, not measured; {browsers}"
