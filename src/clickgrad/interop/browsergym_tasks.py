"""BrowserGym: every task of Pocket Arena and MiniWoB++ as `browsergym/clickgrad.<task id>`, for AgentLab's agents.

    import gymnasium, clickgrad.interop.browsergym_tasks as arena
    arena.register("pocket", "test")
    env = gymnasium.make("browsergym/clickgrad.shop.wish_list.0006")

Browser, observations and actions are BrowserGym's own; sites, worlds and checks are ours. The browser has our server
for its proxy: names need no resolving, and what is not a site of the arena cannot be reached. An episode ends when the
agent sends a message to the user, which is its answer, or calls the task infeasible, when the page ends it, or after
`max_turns` steps; then the checks are made. What nobody can judge raises, and so does a crash: AgentLab counts both as
errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal

try:
    import gymnasium
    from browsergym.core.env import BrowserEnv
    from browsergym.core.task import AbstractBrowserTask
except ModuleNotFoundError as missing:
    raise ImportError("clickgrad.interop.browsergym_tasks needs browsergym-core (docs/interop.md)") from missing

from clickgrad.backends.tasks import chosen_tasks
from clickgrad.errors import UserError, WorldError
from clickgrad.interop.room import decided, interop_config, reasons
from clickgrad.types import Evidence, RowChange, Split, Task
from clickgrad.worlds.arena import Arena
from clickgrad.worlds.miniwob import Miniwob
from clickgrad.worlds.world import Cookie

if TYPE_CHECKING:
    from playwright.sync_api import Page

START_S = 10.0
PREFIX = "clickgrad."


@dataclass(frozen=True, slots=True)
class Place:
    """One episode's own world, or page of MiniWoB++."""

    headers: dict[str, str]
    cookies: tuple[Cookie, ...]
    changes: Callable[[], tuple[RowChange, ...]]
    page_reward: Callable[[], float | None]
    intent: Callable[[Page], str]
    leave: Callable[[], None]


class Sites:
    """A suite's sites, served by threads of this process until it ends."""

    def __init__(self, suite: str, world_seed: int) -> None:
        self._served: Arena | Miniwob = Miniwob() if suite == "miniwob" else Arena(world_seed)
        self._served.__enter__()

    @property
    def proxy(self) -> str:
        return next(iter(self._served.hosts.values()))

    def enter(self, task: Task) -> Place:
        if isinstance(self._served, Miniwob):
            pages, game = self._served, self._served.begin()

            def intent(page: Page) -> str:
                page.wait_for_timeout(1)  # lets Playwright's own events through
                if not game.started.wait(START_S):
                    raise WorldError(f"the page {task.template} did not start within {START_S:.0f} s")
                return game.utterance

            return Place(game.headers, (), lambda: (), lambda: game.reward, intent, lambda: pages.forget(game))
        world = self._served.fork()
        cookies = world.login(task.user) if task.user else ()
        return Place(world.headers, cookies, world.diff, lambda: None, lambda page: task.intent, world.close)


class SuiteTask(AbstractBrowserTask):
    """Single use, as BrowserGym makes one for every episode."""

    def __init__(self, seed: int | None, task: Task, sites: Sites, max_turns: int) -> None:
        super().__init__(seed)
        self.slow_mo = 0
        self.locale, self.timezone_id = "en-US", "UTC"
        self._task = task
        self._sites = sites
        self._turns_left = max_turns
        self._place: Place | None = None

    @classmethod
    def get_task_id(cls) -> str:
        return "clickgrad"

    def setup(self, page: Page) -> tuple[str, dict[str, Any]]:
        self._place = place = self._sites.enter(self._task)
        page.context.set_extra_http_headers(place.headers)
        page.context.add_cookies(
            [{"name": cookie.name, "value": cookie.value, "url": f"http://{cookie.host}/"} for cookie in place.cookies]
        )
        first, *more = self._task.start_urls
        page.goto(first)
        for url in more:
            page.context.new_page().goto(url)
        page.bring_to_front()
        return place.intent(page), {"task": self._task.id}

    def validate(self, page: Page, chat_messages: Sequence[dict[str, Any]]) -> tuple[float, bool, str, dict[str, Any]]:
        assert self._place
        self._turns_left -= 1
        answer = _answer(chat_messages)
        page_reward = self._place.page_reward()
        if answer is None and page_reward is None and self._turns_left > 0:
            return 0.0, False, "", {}
        evidence = Evidence(answer, page.url, page.inner_text("body"), self._place.changes(), page_reward)
        verdict = decided(self._task, evidence)
        return verdict.reward or 0.0, True, "", {"task": self._task.id, "checks": reasons(verdict)}

    def teardown(self) -> None:
        if self._place is not None:
            self._place.leave()


def register(
    suite: Literal["pocket", "miniwob"] = "pocket",
    split: Split | Literal["all"] = "test",
    *,
    max_turns: int = 8,
    world_seed: int = 0,
) -> list[str]:
    """The names for `gymnasium.make`, or without `browsergym/` for AgentLab's `EnvArgs(task_name=...)`."""
    if suite not in ("pocket", "miniwob"):
        raise UserError(f"BrowserGym has its own way to {suite!r}: here are pocket and miniwob")
    names = []
    for task in chosen_tasks(interop_config(suite, world_seed=world_seed), split):
        name = f"browsergym/{PREFIX}{task.id}"
        make = partial(_make, task=task, suite=suite, world_seed=world_seed, max_turns=max_turns)
        if name not in gymnasium.registry:
            gymnasium.register(name, entry_point=make, nondeterministic=True)
        names.append(name)
    return names


def _make(*, task: Task, suite: str, world_seed: int, max_turns: int, **options: Any) -> BrowserEnv:
    sites = _sites(suite, world_seed)
    fence = {"proxy": {"server": f"http://{sites.proxy}", "bypass": "<-loopback>"}, "service_workers": "block"}
    context = {**options.pop("pw_context_kwargs", {}), **fence}
    entry = partial(SuiteTask, task=task, sites=sites, max_turns=max_turns)
    return BrowserEnv(entry, pw_context_kwargs=context, **options)


@lru_cache
def _sites(suite: str, world_seed: int) -> Sites:
    return Sites(suite, world_seed)


def _answer(messages: Sequence[dict[str, Any]]) -> str | None:
    """What the agent has said since the task was given to it; None if nothing."""
    for message in reversed(messages):
        if message["role"] == "user":
            return None
        if message["role"] in ("assistant", "infeasible"):
            return str(message["message"])
    return None
