"""What a command will take, for `--dry-run`: the same simulation, for every stage of it. Loads no torch.

Which machine it will be nobody has said: small models are reckoned on two cores, larger ones on the paper's GPUs. How
long pages, replies and episodes will be is assumed, and told with the figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from clickgrad.backends.placement import planned_name
from clickgrad.config import Config
from clickgrad.planning.likeness import DEMO_SESSIONS
from clickgrad.planning.memory import Memory, reckon
from clickgrad.planning.options import Options
from clickgrad.planning.setup import Setup, set_up
from clickgrad.planning.simulation import simulate
from clickgrad.planning.workload import HEAD, Workload, made_up
from clickgrad.policy.sizes import find_model
from clickgrad.types import Split, Task

SMALL = 1e9  # parameters below which two cores will do
CPU, GPUS = Options(), Options(device="a100-80gb", gpus=8, cores=64)  # the paper's
PAPER: dict[Split, int] = {"demo": 1186, "train": 647, "test": 165}  # tasks, where they cannot be counted here
OUTLINE_TOKENS = 200  # of a page of Pocket Arena, in the mean
SHORT_HEAD = 90  # tokens of the short system prompt and a task
PLAIN_TOKENS = 24  # of a reply with a short remark
CONTRAST = 0.6  # of the groups: about as many had both successes and failures in the runs of docs/results.md
BARE_TOKENS = 142  # of a reply of a model that was only prompted, as in the paper
Parts = Iterator[tuple[str, float]]  # what is done, and its seconds


@dataclass(frozen=True, slots=True)
class Estimate:
    setup: Setup
    parts: tuple[tuple[str, float], ...]
    memory: Memory
    turns: float  # of an episode

    def lines(self) -> Iterator[str]:
        memory, options, machine = self.memory, self.setup.options, self.setup.options.device
        if self.setup.gpu:
            machine = f"{options.gpus} x {machine}, {self.setup.learners} of which learn"
        yield f"estimate for {self.setup.model.name} on {machine}: {_minutes(sum(spent for _, spent in self.parts))}"
        yield from (f"  {name}: {_minutes(spent)}" for name, spent in self.parts)
        held = {"an engine": memory.engine, "a learner": memory.learner, "browsers": memory.browsers}
        yield "memory: " + ", ".join(f"{name} {size:.1f} GB" for name, size in held.items() if size)
        yield from (f"does not fit: {fault}" for fault in memory.too_small())
        assumed = f"pages of {options.page_tokens} tokens, replies of {options.reply_tokens}, {self.turns:.1f} turns"
        yield f"assumed: {assumed} an episode, {CONTRAST:.0%} of groups with contrast where none is replaced"
        yield self.setup.sources


def _minutes(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 2 * 3600 else f"{seconds / 60:.1f} min"


def estimate(config: Config, command: str, tasks: Sequence[Task]) -> Estimate:
    """`tasks` of all splits that the command may choose from; none where they are not on this machine."""
    stages = _Stages(config, tasks)
    parts = {"train": stages.train, "clone": stages.clone, "reinforce": stages.reinforce, "evaluate": stages.evaluate}
    setup = stages.cloning if command == "clone" else stages.setup
    # In memory is what is used: demonstrations ask no engine, and in an evaluation nobody learns.
    engines = 0 if command == "clone" else setup.machine.engines
    learners = 0 if command == "evaluate" else setup.learners
    used = replace(setup, machine=replace(setup.machine, engines=engines), learners=learners)
    browsers = DEMO_SESSIONS if command == "clone" else config.rollout.concurrency
    longest = stages.work(1, turns=config.agent.max_turns).longest
    return Estimate(setup, tuple(parts[command]()), reckon(used, browsers, longest), stages.turns("test"))


class _Stages:
    def __init__(self, config: Config, tasks: Sequence[Task]) -> None:
        self._config, self._tasks, agent = config, tasks, config.agent
        name, device = planned_name(config.model.path), config.model.device
        on_gpu = device == "cuda" or (device == "auto" and find_model(name).parameters >= SMALL)
        self._options = replace(
            GPUS if on_gpu else CPU,
            model=name,
            group_size=1,
            page_tokens=min(agent.page_tokens, OUTLINE_TOKENS if agent.rendering == "outline" else CPU.page_tokens),
            reply_tokens=min(agent.max_new_tokens, PLAIN_TOKENS if agent.reply_format == "plain" else CPU.reply_tokens),
            lora_rank=config.lora.rank,
            micro_tokens=max(config.reinforce.micro_tokens, config.clone.micro_tokens),
            recompute=config.learner.recompute,
            reference=config.reinforce.kl_beta > 0,
            ahead=config.reinforce.max_staleness > 0,
        )
        self.setup, self.cloning = set_up(self._options), set_up(replace(self._options, reference=False))

    def train(self) -> Parts:
        limits = (self._config.train.start_limit, self._config.evaluate.limit, self._count("test"))
        start = min(limit for limit in limits if limit)
        bare = min(self._config.agent.max_new_tokens, BARE_TOKENS)
        work = self.work(start, turns=self._config.agent.max_turns, reply_tokens=bare)
        yield f"evaluate {start} tasks before cloning", self._rollout_s(work)
        yield from (*self.clone(), *self.evaluate(), *self.reinforce(), *self.evaluate())

    def clone(self) -> Parts:
        options = self._config.clone
        demos = options.demos or self._count("demo")
        work = self.work(demos, turns=self.turns("demo"))
        if any(task.split == "demo" for task in self._tasks):  # else they come in a file
            scripted = replace(self.setup.machine, engines=0)
            yield f"record {demos} demonstrations", simulate(work.rounds, scripted, DEMO_SESSIONS).seconds
        times = "once" if options.epochs == 1 else f"{options.epochs} times"
        learned = work.trained_tokens * (1 - options.held_out) * options.epochs
        yield f"clone {demos} demonstrations {times}", learned * self.cloning.token_s

    def reinforce(self) -> Parts:
        options = self._config.reinforce
        refills = min(options.max_refills, options.groups)
        work = self.work(options.groups, turns=self.turns("train"), group_size=options.group_size, refills=refills)
        trained = options.updates * work.trained_tokens * (1 if refills else CONTRAST)  # the rest carries no gradient
        step_s = self.setup.step_s(self._rollout_s(work), trained * self.setup.token_s)
        yield f"{options.steps} steps of at most {work.most_episodes} episodes", options.steps * step_s

    def evaluate(self) -> Parts:
        options = self._config.evaluate
        tasks = self._count(options.split)
        episodes = min(options.limit or tasks, tasks) * options.attempts
        work = self.work(episodes, turns=self.turns("test" if options.split == "all" else options.split))
        yield f"evaluate {episodes} episodes", self._rollout_s(work)

    def work(self, groups: int, **shape: Any) -> Workload:
        head = SHORT_HEAD if self._config.agent.system == "short" else HEAD
        return made_up(replace(self._options, groups=groups, **shape), head)

    def _rollout_s(self, work: Workload) -> float:
        return simulate(work.rounds, self.setup.machine, self._config.rollout.concurrency).seconds

    def _count(self, split: Split | Literal["all"]) -> int:
        here = sum(split in ("all", task.split) for task in self._tasks)
        return here or sum(count for name, count in PAPER.items() if split in ("all", name))

    def turns(self, split: Split) -> float:
        known = [task.expert_turns for task in self._tasks if task.split == split and task.expert_turns]
        return min(sum(known) / len(known) if known else CPU.turns, self._config.agent.max_turns)
