"""A model of a few thousand parameters and a venue without a browser: real code paths at test speed.

The tiny model is cloned from fixed replies, so that it speaks the grammar and leaves exactly one thing to chance.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.bench.chaos.model import tiny_model as tiny_model
from clickgrad.bench.chaos.model import tiny_tokenizer as tiny_tokenizer
from clickgrad.browser import FakeBrowser, FakePage
from clickgrad.learn.learner import LocalLearner
from clickgrad.learn.samples import clone_samples
from clickgrad.learn.spec import LearnerSpec, Lora
from clickgrad.learn.step import clone_step, make_optimizer
from clickgrad.policy.models import LoadedModel
from clickgrad.rollout.venue import Visit
from clickgrad.types import (
    AnswerCheck,
    Completion,
    End,
    Evidence,
    Finish,
    Observation,
    Outcome,
    Task,
    Trajectory,
    Turn,
    Unparsable,
    Verdict,
)

TEACHING_STEPS = 250  # leaves less than one reply in a hundred outside the grammar


def new_learner(loaded: LoadedModel, rank: int = 0, layers: int = 0, **spec: Any) -> LocalLearner:
    """In this process, from a model at hand. `rank` and `layers` are of LoRA."""
    return LocalLearner(loaded, LearnerSpec(lora=Lora(rank, 8, layers), **spec))


def make_task(name: str = "task", intent: str = "Choose.", answer: str = "yes", url: str = "http://toy/") -> Task:
    return Task(name, "toy", "train", ("toy",), "toy.choose", intent, url, (AnswerCheck((answer,)),))


def make_turn(
    prompt_ids: Sequence[int], reply_ids: Sequence[int], logprobs: Sequence[float] | None = None, text: str = ""
) -> Turn:
    completion = Completion(
        text, tuple(reply_ids), tuple(logprobs or [0.0] * len(reply_ids)), Finish.STOP, policy_version=0
    )
    observation = Observation("http://toy/", "Toy", ("a line",), ())
    return Turn(observation, tuple(prompt_ids), completion, Unparsable("none"))


def make_trajectory(
    turns: Sequence[Turn], reward: float | None, task: Task | None = None, episode: str = "episode"
) -> Trajectory:
    outcome = {1.0: Outcome.PASSED, 0.0: Outcome.FAILED}.get(reward, Outcome.UNJUDGED)  # type: ignore[arg-type]
    end = End.CRASHED if reward is None else End.STOPPED
    return Trajectory(
        episode, task or make_task(), 0, tuple(turns), end, None, Verdict(outcome), reward, None, 1.0, "toy", "format"
    )


class FakeVenue:
    """Episodes on a fake site; nothing there changes any rows.

    It may say by itself what the task is, and that the episode is over when the agent is at `end_url`.
    """

    def __init__(self, pages: dict[str, FakePage], intent: str = "", end_url: str = "") -> None:
        self._browser = FakeBrowser(pages)
        self._intent = intent
        self._end_url = end_url

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        session = await self._browser.open(task.start_urls[0], more_tabs=task.start_urls[1:])

        async def evidence(answer: str | None) -> Evidence:
            return Evidence(answer, session.url, await session.page_text(), ())

        try:
            known = replace(task, intent=self._intent) if self._intent else None
            yield Visit(session, evidence, known, lambda: session.url == self._end_url)
        finally:
            await session.close()


def teach(loaded: LoadedModel, builder: PromptBuilder, task: Task, page: Observation, replies: Sequence[str]) -> None:
    """Clone until the model says one of `replies`, each as likely as the other, and nothing else."""
    prompt = builder.prompt("teach", task, (), page).ids
    turns = [make_turn(prompt, builder.reply(reply).ids) for reply in replies]
    samples = clone_samples(make_trajectory(turns, 1.0))
    optimizer = make_optimizer(loaded.model, lr=3e-3)
    for step in range(TEACHING_STEPS):
        clone_step(loaded.model, optimizer, samples, lr=3e-3 * (1 - step / TEACHING_STEPS), micro_tokens=4096)


def save(loaded: LoadedModel, folder: Path) -> Path:
    loaded.model.save_pretrained(folder)
    loaded.tokenizer.inner.save_pretrained(folder)
    return folder
