"""Plan: seconds of a step, rates, memory, bottleneck and the number of browsers, by simulating the rollout."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Any

from clickgrad.planning.likeness import read_likeness
from clickgrad.planning.memory import Memory, reckon
from clickgrad.planning.options import Options
from clickgrad.planning.setup import set_up
from clickgrad.planning.simulation import Rollout, simulate
from clickgrad.planning.workload import made_up

FULL = 0.85  # of the time: what is busier than this holds up the rest
NEARLY = 0.95  # of the best rate
SIZES = 5  # numbers of browsers that are tried


@dataclass(frozen=True, slots=True)
class Plan:
    figures: dict[str, Any]  # as `--json` prints them; seconds and episodes are of a step
    steps: int
    rollout: Rollout  # of all steps together
    memory: Memory


def make_plan(options: Options) -> Plan:
    workload, seen = made_up(options), None
    if options.like:
        options, workload, seen = read_likeness(options, Path(options.like))
    setup = set_up(options, samples=not workload.scripted, learns=workload.trained_tokens > 0)
    most, steps, all_episodes = workload.most_episodes, len(workload.steps), sum(map(len, workload.rounds))
    browsers, episodes = options.browsers or most, all_episodes / steps
    # One browser for every episode of a step, half as many, and so on: 54, 27, 14, 7 and 4.
    sizes = sorted({ceil(most / 2**power) for power in range(SIZES)})
    rollouts = {size: simulate(workload.rounds, setup.machine, size) for size in {*sizes, browsers}}
    rates = {size: 60 * all_episodes / rollout.seconds for size, rollout in rollouts.items()}
    rollout, memory = rollouts[browsers], reckon(setup, min(browsers, most), workload.longest)
    rollout_s, update_s = rollout.seconds / steps, workload.trained_tokens * setup.token_s / steps
    step_s = setup.step_s(rollout_s, update_s)
    figures = {
        "model": setup.model.name,
        "parameters": setup.model.parameters,
        "device": options.device,
        "measured": not setup.gpu,
        "sources": setup.sources,
        "engines": setup.machine.engines,
        "learners": setup.learners,
        "cores": setup.machine.cores,
        "browsers": browsers,
        "episodes": episodes,
        "rollout_s": rollout_s,
        "update_s": update_s,
        "push_s": setup.push_s,
        "step_s": step_s,
        "rollout_episodes_per_min": rates[browsers],
        "episodes_per_min": 60 * episodes / step_s,
        "sampled_tokens_per_s": rollout.reply_tokens / rollout.seconds,
        "read_tokens_per_s": rollout.read_tokens / rollout.seconds,
        "trained_tokens_per_s": workload.trained_tokens / steps / update_s if update_s else None,
        "engine_busy": rollout.engine_busy,
        "cores_busy": rollout.cores_busy,
        "policy_s": rollout.policy_s / rollout.turns,
        "browser_s": rollout.browser_s / rollout.turns,
        "memory_gb": asdict(memory),
        "too_small": memory.too_small(),
        "bottleneck": "the update" if update_s > rollout_s else _bottleneck(rollout, browsers < episodes),
        "enough_browsers": next(size for size in sizes if rates[size] >= NEARLY * max(rates[one] for one in sizes)),
        "crowds": [
            {
                "browsers": size,
                "episodes_per_min": rates[size],
                "engine_busy": rollouts[size].engine_busy,
                "cores_busy": rollouts[size].cores_busy,
            }
            for size in sizes
        ],
        "seen": asdict(seen) if seen else None,
    }
    return Plan(figures, steps, rollout, memory)


def _bottleneck(rollout: Rollout, episodes_wait: bool) -> str:
    if rollout.engine_busy > FULL:
        return "the engines, " + ("reading prompts" if rollout.reading_s > rollout.drawing_s else "drawing replies")
    if rollout.cores_busy > FULL:
        return "the processor cores, under the browsers"
    if episodes_wait:
        return "the number of browsers"
    return "the length of episodes: a turn waits for the one before, and nothing is full"
