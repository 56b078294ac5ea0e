"""What a command will take, for `--dry-run`: minutes and memory, by the arithmetic of `clickgrad plan`. Loads no torch.

Which machine it will be nobody has said: small models are reckoned on two cores, larger ones on the paper's GPUs. How
long pages, replies and episodes will be is assumed, and told with the figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Literal

from clickgrad.config import Config
from clickgrad.planning.constants import find_model
from clickgrad.planning.memory import Memory, reckon
from clickgrad.planning.options import WORKLOAD, Options
from clickgrad.planning.setup import Setup, set_up
from clickgrad.planning.simulation import simulate
from clickgrad.planning.workload import HEAD, Workload, made_up
from clickgrad.types import Split, Task

ESTIMATED = ("train", "clone", "reinforce", "evaluate")
SMALL = 1e9  # parameters below which two cores will do
GPU, GPUS, CORES = "a100-80gb", 8, 64  # the paper's
SESSIONS = 4  # in which demonstrations are recorded, as recipes/demos.py does
PAPER: dict[Split, int] = {"demo": 1186, "train": 647, "test": 165}  # tasks, where they cannot be counted here
OUTLINE_TOKENS = 200  # of a page of Pocket Arena, in the mean
SHORT_HEAD = 90  # tokens of the short system prompt and a task
PLAIN_TOKENS = 24  # of a reply with a short remark
CONTRAST = 0.6  # of the groups: about as many had both successes and failures in the runs of docs/results.md
BARE_TOKENS = 142  # of a reply of a model that was only prompted, as in the paper


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Estimate:
    setup: Setup
    parts: tuple[Part, ...]
    memory: Memory
    assumed: str

    def lines(self) -> Iterator[str]:
        memory, machine = self.memory, self.setup.device.name
        if not self.setup.device.measured:
            machine = f"{GPUS} x {machine}, {self.setup.learning.learners} of which learn"
        yield f"estimate for {self.setup.model.name} on {machine}: {_minutes(sum(part.seconds for part in self.parts))}"
        yield from (f"  {part.name}: {_minutes(part.seconds)}" for part in self.parts)
        held = {"an engine": memory.engine, "a learner": memory.learner, "browsers": memory.browsers}
        yield "memory: " + ", ".join(f"{name} {size:.1f} GB" for name, size in held.items() if size)
        yield from (f"does not fit: {fault}" for fault in memory.too_small())
        yield self.assumed
        yield self.setup.sources


def _minutes(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 2 * 3600 else f"{seconds / 60:.1f} min"


def estimate(config: Config, command: str, tasks: Sequence[Task]) -> Estimate:
    """`tasks` of all splits that the command may choose from; none where they are not on this machine."""
    return _Reckoning(config, tasks).estimate(command)


class _Reckoning:
    def __init__(self, config: Config, tasks: Sequence[Task]) -> None:
        self._config, self._tasks = config, tasks
        self._page_tokens = min(config.agent.page_tokens, _page_tokens(config))
        self._reply_tokens = _reply_tokens(config)

    def estimate(self, command: str) -> Estimate:
        setup = self._setup(reference=command != "clone" and self._config.reinforce.kl_beta > 0)
        parts = {
            "train": self._train,
            "clone": self._clone,
            "reinforce": self._reinforce,
            "evaluate": self._evaluate,
        }[command](setup)
        assumed = (
            f"assumed: pages of {self._page_tokens} tokens, replies of {self._reply_tokens}, "
            f"{self._turns('test'):.1f} turns an episode, {CONTRAST:.0%} of groups with contrast where none is replaced"
        )
        return Estimate(setup, tuple(parts), self._memory(setup, command), assumed)

    def _setup(self, reference: bool) -> Setup:
        name = planned_name(self._config.model.path)
        model, device = find_model(name), self._config.model.device
        on_gpu = device == "cuda" or (device == "auto" and model.parameters >= SMALL)
        options = Options(
            model=name,
            device=GPU if on_gpu else "cpu-2core",
            gpus=GPUS if on_gpu else None,
            cores=CORES if on_gpu else None,
            browsers=self._config.rollout.concurrency,
            lora_rank=self._config.lora.rank,
            micro_tokens=self._config.reinforce.micro_tokens,
            recompute=self._config.learner.recompute or None,
            reference=reference or None,
        )
        return set_up(options, None, self._config.rollout.concurrency)

    # --- the parts of a run ---

    def _train(self, setup: Setup) -> Iterator[Part]:
        limits = (self._config.train.start_limit, self._config.evaluate.limit, self._count("test"))
        start = min(limit for limit in limits if limit)
        bare = self._work(start, self._config.agent.max_turns, min(self._config.agent.max_new_tokens, BARE_TOKENS))
        yield Part(f"evaluate {start} tasks before cloning", self._rollout_s(setup, bare))
        yield from self._clone(self._setup(reference=False))
        yield from self._evaluate(setup)
        yield from self._reinforce(setup)
        yield from self._evaluate(setup)

    def _clone(self, setup: Setup) -> Iterator[Part]:
        options = self._config.clone
        demos = options.demos or self._count("demo")
        work = self._work(demos, self._turns("demo"), self._reply_tokens)
        if any(task.split == "demo" for task in self._tasks):  # else they come in a file
            recording = simulate(work.rounds, replace(setup.machine, engines=0), SESSIONS).seconds
            yield Part(f"record {demos} demonstrations", recording)
        learned = work.trained_tokens * (1 - options.held_out) * options.epochs
        times = "once" if options.epochs == 1 else f"{options.epochs} times"
        yield Part(f"clone {demos} demonstrations {times}", learned * _token_s(setup))

    def _reinforce(self, setup: Setup) -> Iterator[Part]:
        options = self._config.reinforce
        refills = min(options.max_refills, options.groups)
        work = self._work(options.groups, self._turns("train"), self._reply_tokens, options.group_size, refills)
        trained = work.trained_tokens if refills else CONTRAST * work.trained_tokens  # the rest carries no gradient
        update_s = trained * options.updates * _token_s(setup) + setup.learn.push_s
        step_s = self._rollout_s(setup, work) + update_s
        yield Part(f"{options.steps} steps of at most {work.episodes} episodes", options.steps * step_s)

    def _evaluate(self, setup: Setup) -> Iterator[Part]:
        options = self._config.evaluate
        split: Split = "test" if options.split == "all" else options.split
        tasks = self._count(options.split)
        episodes = min(options.limit or tasks, tasks) * options.attempts
        work = self._work(episodes, self._turns(split), self._reply_tokens)
        yield Part(f"evaluate {episodes} episodes", self._rollout_s(setup, work))

    # --- what they do ---

    def _count(self, split: Split | Literal["all"]) -> int:
        here = sum(split in ("all", task.split) for task in self._tasks)
        return here or sum(count for name, count in PAPER.items() if split in ("all", name))

    def _turns(self, split: Split) -> float:
        known = [task.expert_turns for task in self._tasks if task.split == split and task.expert_turns]
        return min(sum(known) / len(known) if known else WORKLOAD["turns"][0], self._config.agent.max_turns)

    def _work(self, groups: int, turns: float, reply_tokens: int, group_size: int = 1, refills: int = 0) -> Workload:
        work = made_up(groups, group_size, refills, turns, self._page_tokens, reply_tokens)
        return _with_short_head(work, groups) if self._config.agent.system == "short" else work

    def _rollout_s(self, setup: Setup, work: Workload) -> float:
        machine = setup.machine
        if machine.engine.cores:  # the torch engine has a row for every browser
            machine = replace(machine, engine=replace(machine.engine, max_rows=setup.browsers))
        return simulate(work.rounds, machine, setup.browsers).seconds

    def _memory(self, setup: Setup, command: str) -> Memory:
        learning, engines = setup.learning, setup.machine.engines
        options, samples = self._config.reinforce, command != "clone"
        browsers = self._config.rollout.concurrency if samples else SESSIONS
        longest = self._work(1, self._config.agent.max_turns, self._reply_tokens).longest
        return reckon(
            setup.model,
            setup.device,
            rows=ceil(browsers / engines) if samples else 0,
            context=longest,
            learners=0 if command == "evaluate" else learning.learners,
            rank=learning.rank,
            reference=learning.reference,
            micro_tokens=max(options.micro_tokens, self._config.clone.micro_tokens),
            recompute=learning.recompute,
            browsers=browsers,
            session_mb=setup.host.session_mb,
        )


def _with_short_head(work: Workload, trained_groups: int) -> Workload:
    """Plans are made for the full system prompt, which is longer."""
    less = HEAD - SHORT_HEAD
    rounds = tuple(
        tuple(
            replace(
                episode,
                turns=tuple(
                    replace(turn, context=turn.context - less, shared=max(turn.shared - less, 0))
                    for turn in episode.turns
                ),
            )
            for episode in episodes
        )
        for episodes in work.rounds
    )
    return replace(work, rounds=rounds, trained_tokens=work.trained_tokens - less * trained_groups)


def _token_s(setup: Setup) -> float:
    return setup.learn.token_s / max(setup.learning.learners, 1)


def _page_tokens(config: Config) -> int:
    return OUTLINE_TOKENS if config.agent.rendering == "outline" else int(WORKLOAD["page_tokens"][0])


def _reply_tokens(config: Config) -> int:
    usual = PLAIN_TOKENS if config.agent.reply_format == "plain" else int(WORKLOAD["reply_tokens"][0])
    return min(usual, config.agent.max_new_tokens)


def planned_name(path: str) -> str:
    """Of a model at a hub, as the figures know it; a folder as it is.

    Qwen/Qwen2.5-3B-Instruct is qwen2.5-3b.
    """
    return path if Path(path).is_dir() else path.rpartition("/")[2].lower().removesuffix("-instruct")
