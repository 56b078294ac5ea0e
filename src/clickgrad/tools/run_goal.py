"""Run one goal: a policy at work on a site the user names, told turn by turn and kept. Nobody judges it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from clickgrad.agent.prompt import surroundings
from clickgrad.backends.agents import make_agent
from clickgrad.backends.policies import PolicySpec, open_policy
from clickgrad.backends.venues import browser_opener
from clickgrad.browser.chromium import require_chromium
from clickgrad.browser.tab import Pace
from clickgrad.config import Config
from clickgrad.display import say
from clickgrad.errors import UserError
from clickgrad.policy.protocol import Policy
from clickgrad.rollout.episode import run_episode
from clickgrad.rollout.own_site_venue import reachable
from clickgrad.rollout.plain_venue import PlainVenue
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Completion, Prompt, Sampling, Task, Trajectory


async def run_goal(
    config: Config, goal: str, url: str, spec: PolicySpec, allow: Sequence[str], out: Path
) -> Trajectory:
    """Greedy. Pages reach the host of `url` and those in `allow`, nothing else. `out` is appended to."""
    if not goal.strip():
        raise UserError("the goal is empty: say what is to be done")
    if urlsplit(url).scheme not in ("http", "https"):
        raise UserError(f"--url {url}: write it as http://host/page or https://host/page")
    hosts = {name: address for place in (url, *allow) for name, address in reachable(place).items()}
    task = Task("goal", "goal", "test", (urlsplit(url).hostname or "",), "goal", goal, url, ())
    file = TrajectoryFile(out)
    episode = f"goal-{len(file.read()) + 1:03d}"
    with open_policy(spec, config) as (policy, builder):
        agent = make_agent(config, _Aloud(policy), builder, temperature=0.0, run=out.parent)
        opens = browser_opener(config, require_chromium())
        async with opens(Pace(config.rollout.settle_s))(hosts) as browser:
            trajectory = await run_episode(episode, task, config.seed, agent, PlainVenue(browser))
    file.append(trajectory)
    return trajectory


class _Aloud:
    """The same policy, heard by the user: where it is, what the page told it, what it replies."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._turns = 0

    @property
    def name(self) -> str:
        return self._policy.name

    @property
    def version(self) -> int:
        return self._policy.version

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        self._turns += 1
        around, page = surroundings(prompt.observation), prompt.observation
        shown = page.lines[page.first : prompt.cut]
        say("\n   ".join([f"{self._turns:>2} {around[0]}", *around[1:], *(f"| {line}" for line in shown)]))
        completion = await self._policy.complete(prompt, sampling)
        say("\n".join(f"   > {line}" for line in completion.text.strip().splitlines()))
        return completion

    def forget(self, episode: str) -> None:
        self._policy.forget(episode)

    def close(self) -> None:
        self._policy.close()
