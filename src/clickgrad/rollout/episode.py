"""One episode: a policy, a task, a venue; a trajectory comes out, whatever happens.

The agent's own limits (turns, tokens, time) end an episode and count. What breaks in our machinery makes it CRASHED,
and a missing verdict UNJUDGED: both without a reward.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from clickgrad.agent.grammar import parse
from clickgrad.agent.prompt import PromptBuilder
from clickgrad.errors import InfraError, PolicyError, TokenLimit
from clickgrad.policy.protocol import Policy
from clickgrad.rollout.reading import Reading
from clickgrad.rollout.venue import Venue, Visit
from clickgrad.tasks.checks import judge
from clickgrad.types import (
    BlockedHost,
    Completion,
    End,
    Evidence,
    Exit,
    Outcome,
    Prompt,
    Sampling,
    Task,
    Trajectory,
    Turn,
    Unparsable,
    Verdict,
)

UNJUDGED = Verdict(Outcome.UNJUDGED)


@dataclass(frozen=True, slots=True)
class Limits:
    max_turns: int
    max_new_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    episode_s: float = 600.0  # looked at between turns; within a turn every wait has a deadline of its own
    reply_s: float = 300.0


@dataclass(frozen=True, slots=True)
class Agent:
    """Who acts: a policy, what it is shown, and what it may use up."""

    policy: Policy
    builder: PromptBuilder
    limits: Limits
    save_screenshot: Callable[[str, bytes], str] | None = None  # (name, jpeg) to the file's name


@dataclass(slots=True)
class _Course:
    """What an episode has come to so far."""

    turns: list[Turn] = field(default_factory=list)
    end: End = End.TURN_LIMIT
    answer: str | None = None
    evidence: Evidence | None = None
    verdict: Verdict = UNJUDGED
    error: str | None = None
    blocked: tuple[BlockedHost, ...] = ()


async def run_episode(episode: str, task: Task, seed: int, agent: Agent, venue: Venue) -> Trajectory:
    course = _Course()
    started = time.monotonic()
    try:
        async with venue.open(task) as visit:
            task = visit.task or task
            try:
                await _play(course, episode, task, seed, agent, visit)
                course.evidence = await visit.evidence(course.answer)
                course.verdict = judge(task, course.evidence)
            finally:
                course.blocked = visit.session.blocked
    except InfraError as error:
        if course.verdict is UNJUDGED:  # otherwise only the cleaning up failed
            course.end, course.error = End.CRASHED, f"{type(error).__name__}: {error}"
    finally:
        agent.policy.forget(episode)
    return Trajectory(
        episode=episode,
        task=task,
        seed=seed,
        turns=tuple(course.turns),
        end=course.end,
        evidence=course.evidence,
        verdict=course.verdict,
        reward=_reward(course.verdict),
        error=course.error or unjudged_because(course.verdict),
        seconds=time.monotonic() - started,
        policy=agent.policy.name,
        prompt_format=agent.builder.fingerprint,
        blocked=course.blocked,
    )


def unjudged_because(verdict: Verdict) -> str | None:
    """What the user has to mend when a check of their own broke."""
    reasons = [result.reason for result in verdict.results if not result.passed]
    return "; ".join(reasons) or None if verdict.outcome is Outcome.UNJUDGED else None


def _reward(verdict: Verdict) -> float | None:
    return None if verdict.outcome is Outcome.UNJUDGED else float(verdict.outcome is Outcome.PASSED)


async def _play(course: _Course, episode: str, task: Task, seed: int, agent: Agent, visit: Visit) -> None:
    """Turns until the agent stops or a limit does it."""
    limits, history = agent.limits, list[Completion]()
    deadline = time.monotonic() + limits.episode_s
    reading = Reading()
    for index in range(limits.max_turns):
        if time.monotonic() > deadline:
            course.end = End.TIME_LIMIT
            return
        looked = time.monotonic()
        observation = reading.show(await visit.session.observe())
        screenshot = await _screenshot(agent, visit, f"{episode}-{index:02d}")
        asked = time.monotonic()
        prompt = agent.builder.prompt(episode, task, history, observation)
        try:
            completion = await _ask(agent, prompt, turn_seed(seed, index))
        except TokenLimit as limit:
            course.end, course.error = End.TOKEN_LIMIT, str(limit)
            return
        replied = time.monotonic()
        history.append(completion)
        action = parse(completion.text, agent.builder.reply_format)
        paged = reading.turn(action, prompt.cut)
        match action:
            case Exit(message):
                course.end, course.answer = End.STOPPED, message
            case Unparsable():
                pass
            case _ if not paged:
                await visit.session.perform(action)
        course.turns.append(
            Turn(
                observation=observation,
                prompt_ids=prompt.ids,
                completion=completion,
                action=action,
                policy_s=replied - asked,
                browser_s=asked - looked + time.monotonic() - replied,
                screenshot=screenshot,
                paged=paged,
            )
        )
        if course.end is End.STOPPED or visit.over():
            course.end = End.STOPPED
            return


async def _ask(agent: Agent, prompt: Prompt, seed: int) -> Completion:
    limits = agent.limits
    sampling = Sampling(limits.max_new_tokens, limits.temperature, limits.top_p, seed)
    try:
        async with asyncio.timeout(limits.reply_s):
            return await agent.policy.complete(prompt, sampling)
    except TimeoutError:
        raise PolicyError(f"no reply within {limits.reply_s:.0f} s") from None


async def _screenshot(agent: Agent, visit: Visit, name: str) -> str | None:
    if agent.save_screenshot is None:
        return None
    return agent.save_screenshot(name, await visit.session.screenshot())


def turn_seed(seed: int, turn: int) -> int:
    """Every turn of every episode draws from a stream of its own."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{turn}".encode()).digest()[:6])
