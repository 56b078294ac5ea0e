"""Any suite as a Gymnasium environment, for trainers and agents that are not ours.

    import gymnasium
    import clickgrad.gym

    env = gymnasium.make("clickgrad/pocket-v0", split="train")
    page, info = env.reset(seed=0)                      # info["intent"] says what is to be done
    page, reward, terminated, truncated, info = env.step('do(action="Click", element="3")')

An action is a reply as a model would write it; an observation is the page as a model would read it. The reward is 1
when the episode ends and its checks pass, else 0. Exiting terminates, the turn limit truncates. When the machinery
fails, or nobody can say whether the task was done, `step` raises: that is never a reward.
"""

from __future__ import annotations

import string
from dataclasses import asdict
from typing import Any, Literal

try:
    import gymnasium
except ModuleNotFoundError as missing:
    raise ImportError("clickgrad.gym needs Gymnasium: pip install 'clickgrad[gym]'") from missing
from gymnasium import spaces

from clickgrad.agent.grammar import ReplyFormat
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.browser.render import Rendering
from clickgrad.errors import UserError
from clickgrad.interop.room import Episode, Room, interop_config
from clickgrad.types import Split, Task

LONGEST = 1_000_000


class AnyText(spaces.Text):
    """Text of any characters: a page may show all of Unicode. Samples are printable ASCII, and short."""

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length=max_length, min_length=0, charset=string.printable)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        characters = self.np_random.choice(list(string.printable), size=int(self.np_random.integers(80)))
        return "".join(map(str, characters))


class ClickgradEnv(gymnasium.Env[str, str]):
    """`suite` and the rest are what `--set tasks.suite=...` and so on would be. Not for several threads at once."""

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        suite: str = "pocket",
        split: Split | Literal["all"] = "train",
        *,
        max_turns: int = 8,
        rendering: Rendering = "outline",
        reply_format: ReplyFormat = "plain",
        world_seed: int = 0,
    ) -> None:
        config = interop_config(
            suite, max_turns=max_turns, world_seed=world_seed, rendering=rendering, reply_format=reply_format
        )
        self.observation_space = AnyText(LONGEST)
        self.action_space = AnyText(LONGEST)
        self.tasks = {task.id: task for task in chosen_tasks(config, split)}
        self._room = Room(config)
        self._episode: Episode | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """A task drawn by the seed, or `options={"task": id}`, in a fresh world."""
        super().reset(seed=seed)
        task = self._chosen(options or {})
        self._finish()
        self._episode = self._room.begin(task)
        return self._text(self._episode), self._info(self._episode)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        episode = self._episode
        if episode is None:
            raise UserError("the episode is over or has not begun: call reset()")
        try:
            step = episode.step(action)
        except BaseException:
            self._episode = None
            raise
        if step.over:
            self._episode = None
        reward = (step.reward or 0.0) if step.over else 0.0
        return self._text(episode), reward, step.terminated, step.truncated, self._info(episode)

    def close(self) -> None:
        """Ends browser and sites. Idempotent."""
        self._episode = None
        self._room.close()
        super().close()

    def _chosen(self, options: dict[str, Any]) -> Task:
        unknown = sorted(options.keys() - {"task"})
        if unknown:
            raise UserError(f"reset: unknown option {unknown[0]!r}; the only one is 'task'")
        name = options.get("task") or list(self.tasks)[int(self.np_random.integers(len(self.tasks)))]
        if name not in self.tasks:
            raise UserError(f"reset: there is no task {name!r} in this split")
        return self.tasks[name]

    def _finish(self) -> None:
        episode, self._episode = self._episode, None
        if episode is not None:
            episode.end()

    def _text(self, episode: Episode) -> str:
        return episode.last.text[:LONGEST]

    def _info(self, episode: Episode) -> dict[str, Any]:
        task, page = episode.task, episode.last.page
        return {
            "task": task.id,
            "intent": task.intent,
            "url": page.url,
            "title": page.title,
            "elements": [asdict(element) for element in page.elements],
            "texts": list(page.texts),
        }


gymnasium.register("clickgrad/pocket-v0", entry_point="clickgrad.gym:ClickgradEnv")
