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

import asyncio
import string
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import Any, Literal, TypeVar

try:
    import gymnasium
except ModuleNotFoundError as missing:
    raise ImportError("clickgrad.gym needs Gymnasium: pip install 'clickgrad[gym]'") from missing
from gymnasium import spaces

from clickgrad.agent.grammar import ReplyFormat
from clickgrad.agent.lenient import Grammar
from clickgrad.agent.prompt import page_lines
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.backends.venues import open_venue
from clickgrad.browser.render import Rendering
from clickgrad.config import Config, load_config
from clickgrad.errors import InfraError, UserError, WorldError
from clickgrad.rollout.episode import unjudged_because
from clickgrad.rollout.reading import with_notice_of
from clickgrad.rollout.venue import Venue, Visit
from clickgrad.tasks.checks import judge
from clickgrad.types import Exit, Observation, Split, Task, Unparsable

T = TypeVar("T")
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
        config = _config(suite, max_turns, rendering, reply_format, world_seed)
        self.observation_space = AnyText(LONGEST)
        self.action_space = AnyText(LONGEST)
        self.tasks = {task.id: task for task in chosen_tasks(config, split)}
        self._config = config
        self._episode: _Episode | None = None
        self._open = AsyncExitStack()
        # Playwright lives in one thread with a loop of its own, so that a caller with a loop, a notebook, can use it.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="clickgrad-gym")
        self._runner: asyncio.Runner | None = None
        self._venue: Venue | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """A task drawn by the seed, or `options={"task": id}`, in a fresh world."""
        super().reset(seed=seed)
        task = self._chosen(options or {})
        self._finish()
        return self._call(lambda: self._begin(task))

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        episode = self._episode
        if episode is None:
            raise UserError("the episode is over or has not begun: call reset()")
        try:
            page, reward, terminated, truncated = self._run(episode.step(action))
        except InfraError:
            self._finish()
            raise
        info = episode.info(page)
        if terminated or truncated:
            self._finish()
        return _text(page), reward, terminated, truncated, info

    def close(self) -> None:
        """Ends browser and sites. Idempotent."""
        try:
            self._finish()
        finally:
            if self._runner is not None:
                runner, self._runner, self._venue = self._runner, None, None
                self._call(lambda: self._end(runner))
            self._thread.shutdown()
            super().close()

    def _chosen(self, options: dict[str, Any]) -> Task:
        unknown = sorted(options.keys() - {"task"})
        if unknown:
            raise UserError(f"reset: unknown option {unknown[0]!r}; the only one is 'task'")
        name = options.get("task") or list(self.tasks)[int(self.np_random.integers(len(self.tasks)))]
        if name not in self.tasks:
            raise UserError(f"reset: there is no task {name!r} in this split")
        return self.tasks[name]

    def _begin(self, task: Task) -> tuple[str, dict[str, Any]]:
        """In the thread: the venue opens with the first episode."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        if self._venue is None:
            self._venue = self._runner.run(self._open.enter_async_context(open_venue(self._config)))
        episode = _Episode(task, self._config.agent.reply_format, self._config.agent.max_turns)
        page = self._runner.run(episode.begin(self._venue))
        self._episode = episode
        return _text(page), episode.info(page)

    def _end(self, runner: asyncio.Runner) -> None:
        """In the thread."""
        with runner:
            runner.run(self._open.aclose())

    def _finish(self) -> None:
        episode, self._episode = self._episode, None
        if episode is not None:
            self._run(episode.end())

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        runner = self._runner
        assert runner
        return self._call(lambda: runner.run(work))

    def _call(self, work: Callable[[], T]) -> T:
        return self._thread.submit(work).result()


class _Episode:
    """One task, turn by turn. Single use."""

    def __init__(self, task: Task, reply_format: ReplyFormat, max_turns: int) -> None:
        self._task = task
        self._reply_format: ReplyFormat = reply_format
        self._turns_left = max_turns
        self._stack = AsyncExitStack()
        self._visit: Visit | None = None
        self._seen: Observation | None = None

    async def begin(self, venue: Venue) -> Observation:
        try:
            self._visit = await self._stack.enter_async_context(venue.open(self._task))
            self._task = self._visit.task or self._task
            self._seen = await self._visit.session.observe()
            return self._seen
        except BaseException:
            await self.end()
            raise

    async def step(self, reply: str) -> tuple[Observation, float, bool, bool]:
        """The page it led to, the reward, and whether that was the end: by the agent or the page, by the turn limit."""
        assert self._visit
        seen = self._seen.elements if self._seen else ()
        action, read_as = Grammar(self._reply_format).read(reply, seen)
        if not isinstance(action, Exit | Unparsable):
            await self._visit.session.perform(action)
        self._turns_left -= 1
        self._seen = page = with_notice_of(action, await self._visit.session.observe(), read_as=read_as)
        terminated = isinstance(action, Exit) or self._visit.over()
        truncated = not terminated and self._turns_left == 0
        answer = action.message if isinstance(action, Exit) else None
        reward = await self._reward(answer) if terminated or truncated else 0.0
        return page, reward, terminated, truncated

    def info(self, page: Observation) -> dict[str, Any]:
        task = self._task
        return {
            "task": task.id,
            "intent": task.intent,
            "url": page.url,
            "title": page.title,
            "elements": [asdict(element) for element in page.elements],
        }

    async def end(self) -> None:
        await self._stack.aclose()

    async def _reward(self, answer: str | None) -> float:
        assert self._visit
        verdict = judge(self._task, await self._visit.evidence(answer))
        if verdict.reward is None:
            raise WorldError(
                f"task {self._task.id} cannot be judged: {unjudged_because(verdict) or 'it has no checks'}"
            )
        return verdict.reward


def _config(suite: str, max_turns: int, rendering: str, reply_format: str, world_seed: int) -> Config:
    settings = [
        f"tasks.suite='{suite}'",
        f"tasks.seed={world_seed}",
        f"agent.max_turns={max_turns}",
        f"agent.rendering={rendering}",
        f"agent.reply_format={reply_format}",
    ]
    return load_config(None, settings, "evaluate")


def _text(page: Observation) -> str:
    return "\n".join(page_lines(page))[:LONGEST]


gymnasium.register("clickgrad/pocket-v0", entry_point="clickgrad.gym:ClickgradEnv")
