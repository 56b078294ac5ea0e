"""Inspect: a suite as a task for `inspect eval`, with any model it knows.

    from clickgrad.interop.inspect_task import web_tasks
    inspect_ai.eval(web_tasks(suite="pocket", split="test"), model="openai/gpt-4o", limit=20)

The model is asked as our own policies are: system, task, earlier replies, the newest page. A crash of ours is an error
of the sample (`retry_on_error`, `fail_on_error`), never a score.
"""

from __future__ import annotations

import asyncio
from typing import Literal

try:
    import inspect_ai
except ModuleNotFoundError as missing:
    raise ImportError("clickgrad.interop.inspect_task needs Inspect: pip install 'clickgrad[inspect]'") from missing
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.hooks import Hooks, RunEnd, hooks
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from clickgrad.backends.tasks import chosen_tasks, find_task
from clickgrad.interop.room import Room, interop_config, reasons
from clickgrad.types import Message, Split

REWARD, WHY = "clickgrad_reward", "clickgrad_why"
ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
_rooms: dict[tuple[str, int, int], Room] = {}


@inspect_ai.task
def web_tasks(
    suite: str = "pocket", split: Split | Literal["all"] = "test", max_turns: int = 8, world_seed: int = 0
) -> inspect_ai.Task:
    config = interop_config(suite, max_turns=max_turns, world_seed=world_seed)
    samples = [
        Sample(input=task.intent, id=task.id, metadata={"template": task.template, "sites": list(task.sites)})
        for task in chosen_tasks(config, split)
    ]
    return inspect_ai.Task(
        dataset=MemoryDataset(samples, name=f"{suite}-{split}"),
        solver=browse(suite, max_turns, world_seed),
        scorer=checks(),
        name=f"clickgrad-{suite.replace('/', '-')}",
    )


@solver
def browse(suite: str = "pocket", max_turns: int = 8, world_seed: int = 0) -> Solver:
    """Turns in the browser until the model exits, the page ends it, or `max_turns` does."""
    config = interop_config(suite, max_turns=max_turns, world_seed=world_seed)
    tasks = chosen_tasks(config, "all")

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        room = _rooms.setdefault((suite, max_turns, world_seed), Room(config))
        episode = await asyncio.to_thread(room.begin, find_task(tasks, str(state.sample_id), suite))
        try:
            while not episode.last.over:
                state.messages = [_as_chat(message) for message in episode.messages()]
                state.output = await get_model().generate(state.messages)
                state.messages.append(state.output.message)
                await asyncio.to_thread(episode.step, state.output.completion)
        finally:
            await asyncio.to_thread(episode.end)
        if episode.last.verdict is not None:
            state.store.set(REWARD, episode.last.reward)
            state.store.set(WHY, reasons(episode.last.verdict))
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def checks() -> Scorer:
    """What the task's own checks said when the episode ended."""

    async def score(state: TaskState, target: Target) -> Score:
        reward = state.store.get(REWARD)
        if reward is None:
            return Score.unscored(reason="scoring_failed", explanation="the episode has no verdict")
        return Score(value=CORRECT if reward else INCORRECT, explanation=state.store.get(WHY))

    return score


@hooks(name="clickgrad_rooms", description="ends clickgrad's browsers and sites with the run")
class _EndRooms(Hooks):
    async def on_run_end(self, data: RunEnd) -> None:
        while _rooms:
            await asyncio.to_thread(_rooms.popitem()[1].close)


def _as_chat(message: Message) -> ChatMessage:
    return ROLES[message.role](content=message.content)
