"""verifiers v1: a suite as a taskset, whose tools are the browser; any harness that speaks MCP can play it.

A taskset is found by the name of a top-level module, so a file of one's own says
`from clickgrad.interop.verifiers_taskset import WebTaskset` (examples/interop/clickgrad_web.py), and then

    vf-eval clickgrad-web --env.agent.harness.id null --env.taskset.suite pocket -m MODEL -n 20

Each rollout has a tool server of its own, with a browser and a world that end with it. The reward is what the checks
say when the agent exits; without an exit, what they say of the state it left. A crash of ours is an error of the trace.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Literal

try:
    import verifiers.v1 as vf
except ModuleNotFoundError as missing:
    raise ImportError(
        "clickgrad.interop.verifiers_taskset needs verifiers: pip install 'clickgrad[verifiers]'"
    ) from missing

from clickgrad.agent.prompt import system_prompt
from clickgrad.backends.tasks import chosen_tasks, find_task
from clickgrad.errors import InfraError
from clickgrad.interop.room import Episode, Room, interop_config, reasons
from clickgrad.types import Split

ASKED = """Task: {intent}

You act through tools: `web_look` shows the page, `web_act` takes one reply as described and shows the page it led to.
End with exit(message="...") through `web_act`."""


class WebData(vf.TaskData):
    suite: str = "pocket"
    world_seed: int = 0
    max_turns: int = 8


class WebState(vf.State):
    """What the tool server tells: how it stands, whether it is over, what broke."""

    reward: float = 0.0
    over: bool = False
    checks: str = ""
    error: str = ""


class WebToolset(vf.Toolset[vf.ToolsetConfig, WebState]):
    TOOL_PREFIX = "web"

    async def setup_task(self, task: WebData) -> None:
        config = interop_config(task.suite, max_turns=task.max_turns, world_seed=task.world_seed)
        room = Room(config)
        self._exit_stack.push_async_callback(asyncio.to_thread, room.close)
        chosen = find_task(chosen_tasks(config, "all"), str(task.id), task.suite)
        self._episode: Episode = await asyncio.to_thread(room.begin, chosen)

    @vf.tool
    async def look(self) -> str:
        """The task and the page as it is now."""
        return f"Task: {self._episode.task.intent}\n\n{self._episode.last.text}"

    @vf.tool
    async def act(self, reply: str) -> str:
        """Perform one action, e.g. `do(action="Click", element="3")` or `exit(message="done")`; shows the next page."""
        if self.state.over or self.state.error:
            return "The episode is over."
        try:
            step = await asyncio.to_thread(self._episode.step, reply)
        except InfraError as error:
            self.state.error = str(error)
            return "The environment failed. Stop here."
        self.state.reward, self.state.over = step.reward or 0.0, step.over
        self.state.checks = reasons(step.verdict) if step.verdict else ""
        return "The episode is over." if step.over else step.text


class WebTaskConfig(vf.TaskConfig):
    tools: vf.ToolsetConfig = vf.ToolsetConfig()


class WebTask(vf.Task[WebData, WebState, WebTaskConfig]):
    @classmethod
    def toolsets(cls, config: WebTaskConfig) -> list[vf.Toolset]:
        return [WebToolset(config.tools)]

    @vf.stop
    async def is_over(self, trace: vf.Trace) -> bool:
        return bool(trace.state.over or trace.state.error)

    @vf.reward(weight=1.0)
    async def success(self, trace: vf.Trace) -> float:
        if trace.state.error:
            raise InfraError(trace.state.error)
        return float(trace.state.reward)


class WebTasksetConfig(vf.TasksetConfig):
    suite: str = "pocket"
    split: Split | Literal["all"] = "train"
    world_seed: int = 0
    max_turns: int = 8
    task: WebTaskConfig = WebTaskConfig()


class WebTaskset(vf.Taskset[WebTask, WebTasksetConfig]):
    def load(self) -> Iterable[WebTask]:
        chosen = self.config
        config = interop_config(chosen.suite, max_turns=chosen.max_turns, world_seed=chosen.world_seed)
        system = system_prompt("full", config.agent.reply_format, config.agent.actions, config.agent.rendering)
        for task in chosen_tasks(config, chosen.split):
            data = WebData(
                id=task.id,
                name=task.template,
                prompt=ASKED.format(intent=task.intent),
                system_prompt=system,
                suite=chosen.suite,
                world_seed=chosen.world_seed,
                max_turns=chosen.max_turns,
            )
            yield WebTask(data, chosen.task)


__all__ = ["WebTaskset"]

if __name__ == "__main__":
    WebToolset.run()
