"""What episodes may begin along: demonstrations, told in the policy's own tokens, and successes of the run itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clickgrad.agent.grammar import parse
from clickgrad.agent.prompt import PromptBuilder
from clickgrad.algorithms.replay import step_of
from clickgrad.config import Config
from clickgrad.display import say
from clickgrad.errors import UserError, warn
from clickgrad.learn.samples import refuse_foreign
from clickgrad.recipes.demos import read_demos, record_experts
from clickgrad.rollout.retell import retell
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_layout import DEMOS, EXPERTS, TRAJECTORIES, model_of, step_trajectories
from clickgrad.tasks.own.site import read_site
from clickgrad.tasks.suites import OwnSite, WebArena, parse_suite
from clickgrad.types import Task, Trajectory


def refuse_unforkable(config: Config) -> None:
    """Turns can be performed again only where every episode begins in the same world."""
    options = config.reinforce
    played_on = options.algorithm not in ("m-grpo", "filtered-bc") and config.values.kind == "exact"
    wishes = (
        ("reinforce.starts", options.starts != "none"),
        ("reinforce.branches", options.branches),
        ("values.kind='exact'", played_on),
    )
    asked = [name for name, value in wishes if value]
    match parse_suite(config.tasks.suite):
        case WebArena(text) if asked:
            site = f"{text}'s sites are shared"
        case OwnSite(folder) if asked and read_site(folder).shared:
            site = f"the site {read_site(folder).name} is shared"
        case _:
            return
    raise UserError(f"{asked[0]}: {site}, so an episode cannot be begun again from any of its turns")


async def find_demonstrations(config: Config, start: str, run: Path, tasks: Sequence[Task]) -> list[Trajectory]:
    """Those that `reinforce.starts` asks for, as they were recorded; none where it asks for none.

    WebRL replays those of cloning, where there are any.
    """
    if config.reinforce.algorithm == "webrl":
        file = _beside(start)
        if config.reinforce.demos or file.is_file():
            return _fitting(read_demos(_demos_file(config, start)), tasks)
        say("no demonstrations beside the model to start from: the first phase replays nothing")
        return []
    match config.reinforce.starts:
        case "demos":
            return _fitting(read_demos(_demos_file(config, start)), tasks)
        case "experts":
            long = [task for task in tasks if task.expert_turns is None or task.expert_turns > 1]
            if not long:
                raise UserError("reinforce.starts='experts': no training task takes an expert more than one turn")
            return await record_experts(config, long, run / TRAJECTORIES / EXPERTS)
        case _:
            return []


def _demos_file(config: Config, start: str) -> Path:
    if config.reinforce.demos:
        return Path(config.reinforce.demos)
    beside = _beside(start)
    if not beside.is_file():
        raise UserError(
            f"reinforce.starts='demos': there are no demonstrations beside the model {start}; name their file with "
            "reinforce.demos, or follow experts or the policy's own successes"
        )
    return beside


def _beside(start: str) -> Path:
    return Path(model_of(start)).parent / TRAJECTORIES / DEMOS


def _fitting(demonstrations: Sequence[Trajectory], tasks: Sequence[Task]) -> list[Trajectory]:
    suites, templates = {task.suite for task in tasks}, {task.template for task in tasks}
    fitting = [one for one in demonstrations if one.task.suite in suites and one.task.template in templates]
    if not fitting:
        other = demonstrations[0].task
        raise UserError(
            f"reinforce.starts='demos': no demonstration is of a template that is trained; the first is of "
            f"{other.template} of {other.suite}"
        )
    return fitting


def retold(demonstrations: Sequence[Trajectory], builder: PromptBuilder) -> list[Trajectory]:
    """In the policy's own tokens. Replies that mean something else in its format are none it could have given."""
    for one in demonstrations:
        for turn in one.turns:
            if parse(turn.completion.text, builder.reply_format) != turn.action:
                raise UserError(
                    f"the demonstration {one.episode} replies in another format than "
                    f"agent.reply_format={builder.reply_format}: record it again with the same agent settings"
                )
    return [retell(one, builder) for one in demonstrations]


@dataclass(frozen=True, slots=True)
class Recalled:
    """Successes of the run by name, from the files of its steps."""

    run: Path
    _known: dict[int, dict[str, Trajectory]] = field(default_factory=dict)

    def __call__(self, episode: str) -> Trajectory | None:
        step = step_of(episode)
        if step not in self._known:
            stored = TrajectoryFile(step_trajectories(self.run, step)).mend(warn)
            self._known[step] = {one.episode: one for one in stored if one.reward == 1.0 and one.given is None}
        return self._known[step].get(episode)


MOST_STEPS = 64  # whose episodes are kept in memory


@dataclass(frozen=True, slots=True)
class Earlier:
    """All episodes of earlier steps of the run."""

    run: Path
    prompt_format: str
    _known: dict[int, list[Trajectory]] = field(default_factory=dict)

    def __call__(self, step: int) -> list[Trajectory]:
        if step not in self._known:
            stored = TrajectoryFile(step_trajectories(self.run, step)).mend(warn)
            refuse_foreign(stored, self.prompt_format)
            self._known[step] = stored
            for old in sorted(self._known)[:-MOST_STEPS]:
                del self._known[old]
        return self._known[step]


def stored_rollouts(source: str, prompt_format: str) -> list[Trajectory]:
    """Of a file of trajectories, or of all that a run's folder holds but demonstrations and probes."""
    path = Path(source)
    skipped = (DEMOS, EXPERTS)
    files = sorted(one for one in (path / TRAJECTORIES).glob("*.jsonl.zst") if one.name not in skipped)
    files = [path] if path.is_file() else [one for one in files if not one.name.startswith("probe-")]
    episodes = [one for file in files for one in TrajectoryFile(file).read()]
    if not any(one.usable for one in episodes):
        raise UserError(
            f"reinforce.rollouts={source}: there are no judged episodes; name a run or a file of trajectories"
        )
    refuse_foreign(episodes, prompt_format)
    return episodes
