"""Who acts, by the options: what the model is shown, and what an episode may use up."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.backends.policies import PolicySpec, TorchModel
from clickgrad.config import AgentSection, Config
from clickgrad.errors import warn
from clickgrad.policy.protocol import Policy
from clickgrad.rollout.episode import Agent, Limits
from clickgrad.run_layout import CONFIG, MADE_BY, MODEL, SCREENSHOTS, picture_name

PICTURES_MB = 200  # of a folder that nobody set a bound for


def make_agent(config: Config, policy: Policy, builder: PromptBuilder, temperature: float, run: Path) -> Agent:
    limits = Limits(
        max_turns=config.agent.max_turns,
        max_new_tokens=config.agent.max_new_tokens,
        temperature=temperature,
        episode_s=config.rollout.episode_s,
        reply_s=config.rollout.reply_s,
    )
    return Agent(policy, builder, limits, Screenshots(run / SCREENSHOTS) if config.rollout.screenshots else None)


def pictured(config: Config, agent: Agent, run: Path) -> Agent:
    """An evaluation's agent: with a picture of every turn, for people who look at it later."""
    options = config.evaluate
    if agent.save_screenshot or not options.pictures:
        return agent
    return replace(agent, save_screenshot=Screenshots(run / SCREENSHOTS, options.pictures_mb))


def pictured_always(agent: Agent, run: Path) -> Agent:
    return replace(agent, save_screenshot=Screenshots(run / SCREENSHOTS, PICTURES_MB))


class Screenshots:
    """Saves the pictures of an episode's turns in a folder, until it holds `most_mb`; 0 is no bound."""

    def __init__(self, folder: Path, most_mb: int = 0) -> None:
        self._folder = folder
        self._room = 1_000_000 * most_mb if most_mb else None
        if self._room is not None and folder.is_dir():
            self._room -= sum(file.stat().st_size for file in folder.iterdir())

    def __call__(self, name: str, jpeg: bytes) -> str | None:
        """The file's name; None when there is no room left."""
        if self._room is not None:
            if self._room < len(jpeg):
                return None
            self._room -= len(jpeg)
        self._folder.mkdir(parents=True, exist_ok=True)
        file = picture_name(name)
        (self._folder / file).write_bytes(jpeg)
        return file


def as_trained(config: Config, spec: PolicySpec) -> Config:
    """With the agent's options of the run that made the policy: its prompts looked so, and its episodes were so long.

    An option that the user set stays as he set it, and a line says what the policy is used to.
    """
    agent, file = config.agent, _made_by(spec.source) if isinstance(spec, TorchModel) else None
    if file is None:
        return config
    try:
        trained = AgentSection.model_validate(tomllib.loads(file.read_text()).get("agent", {}))
    except (OSError, ValueError) as error:
        warn(f"how {spec} was prompted is not known, {file} cannot be read: {str(error).splitlines()[0]}")
        return config
    other = {name: value for name, value in trained.model_dump().items() if value != getattr(agent, name)}
    taken = {name: value for name, value in other.items() if name not in agent.model_fields_set}
    for option in other.keys() - taken.keys():
        warn(f"agent.{option} = {getattr(agent, option)!r}, but {spec} was trained with {other[option]!r}")
    if taken:
        warn(f"as {spec} was trained: " + ", ".join(f"agent.{option} = {value!r}" for option, value in taken.items()))
    return config.model_copy(update={"agent": agent.model_copy(update=taken)})


def _made_by(model: str) -> Path | None:
    """The options of the run that made this model: a copy within its folder, or the run's own beside it."""
    folder = Path(model)
    beside = [folder.parent / CONFIG] if folder.name == MODEL and folder.is_dir() else []
    return next((file for file in (folder / MADE_BY, *beside) if file.is_file()), None)
