"""One episode: a policy, a task, a venue; a trajectory comes out, whatever happens.

The agent's own limits (turns, tokens) end an episode and count. What breaks or is too slow in our machinery makes it
CRASHED, and a missing verdict UNJUDGED: both without a reward. A page that the agent's own actions make unusable, again
each time they are repeated, is its failure.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.errors import BrowserError, InfraError, PageError, PolicyError, TokenLimit, UserError, boundary
from clickgrad.policy.protocol import Policy
from clickgrad.rollout.again import breaks_again, reaches_page, require_same
from clickgrad.rollout.reading import Reading
from clickgrad.rollout.venue import Venue, Visit
from clickgrad.tasks.checks import judge
from clickgrad.types import (
    USUAL,
    BlockedHost,
    CheckResult,
    Completion,
    End,
    Evidence,
    Exit,
    Opening,
    Outcome,
    Prompt,
    Sampling,
    Task,
    Trajectory,
    Turn,
    Unparsable,
    Verdict,
)

PICTURE_S = 3.0  # that a turn waits for its picture when the reply is there; one that is later is missing
UNJUDGED = Verdict(Outcome.UNJUDGED)
REPEATS = 2  # of actions after which a page was unusable; it must come out so each time to be the agent's doing


@dataclass(frozen=True, slots=True)
class Limits:
    max_turns: int
    max_new_tokens: int
    temperature: float = 1.0
    episode_s: float = 600.0  # looked at between turns; within a turn every wait has a deadline of its own
    reply_s: float = 300.0


@dataclass(frozen=True, slots=True)
class Agent:
    """Who acts: a policy, what it is shown, and what it may use up."""

    policy: Policy
    builder: PromptBuilder
    limits: Limits
    save_screenshot: Callable[[str, bytes], str | None] | None = None  # (name, jpeg) to the file's name, if it is kept


@dataclass(slots=True)
class _Course:
    """What an episode has come to so far."""

    task: Task
    opening: Opening = USUAL
    turns: list[Turn] = field(default_factory=list)
    end: End = End.TURN_LIMIT
    answer: str | None = None
    evidence: Evidence | None = None
    verdict: Verdict = UNJUDGED
    error: str | None = None
    blocked: tuple[BlockedHost, ...] = ()
    broken: PageError | None = None  # what made the page unusable under the agent's hands


async def run_episode(
    episode: str, task: Task, seed: int, agent: Agent, venue: Venue, opening: Opening = USUAL
) -> Trajectory:
    """Raises only what is the user's to mend (UserError)."""
    course = _Course(task, opening)
    if opening.greedy:
        agent = replace(agent, limits=replace(agent.limits, temperature=0.0))
    started = time.monotonic()
    try:
        with boundary(InfraError, "playing the episode"), _unless_cancelled():
            await _visit(course, episode, task, seed, agent, venue)
    except InfraError as error:
        # Once there is a verdict, or a page to be tried again, only the cleaning up has failed.
        if course.verdict is UNJUDGED and course.broken is None:
            course.end, course.error = End.CRASHED, _describe(error)
    if course.broken:
        await _find_culprit(course, task, agent, venue)
    return Trajectory(
        episode=episode,
        task=course.task,
        seed=seed,
        turns=tuple(course.turns),
        end=course.end,
        evidence=course.evidence,
        verdict=course.verdict,
        reward=course.verdict.reward,
        error=course.error or unjudged_because(course.verdict),
        seconds=time.monotonic() - started,
        policy=agent.policy.name,
        prompt_format=agent.builder.fingerprint,
        blocked=course.blocked,
        given=opening.given,
    )


async def _visit(course: _Course, episode: str, task: Task, seed: int, agent: Agent, venue: Venue) -> None:
    """From opening to the verdict."""
    try:
        async with venue.open(task) as visit:
            course.task = visit.task or task
            try:
                await _play(course, episode, course.task, seed, agent, visit)
                course.evidence = await visit.evidence(course.answer)
                course.verdict = judge(course.task, course.evidence)
            except PageError as error:
                visit.require_site()
                if not any(map(reaches_page, course.turns[len(course.opening.turns) :])):
                    raise  # before the agent did anything the page is unusable: nobody's doing
                course.broken = error
            finally:
                course.blocked = visit.session.blocked
    finally:
        agent.policy.forget(episode)


async def _find_culprit(course: _Course, task: Task, agent: Agent, venue: Venue) -> None:
    """The agent, if its actions alone make the page unusable each time; otherwise nobody knows, and it is a crash."""
    tries = again = 0
    try:
        with boundary(InfraError, "performing the actions again"):
            async with asyncio.timeout(agent.limits.episode_s):
                # Without checks there is nothing to win or lose, and the site may be anybody's.
                while task.checks and tries == again < REPEATS:
                    tries += 1
                    again += await breaks_again(task, course.turns, venue)
    except InfraError:
        pass  # it proves nothing
    if again < REPEATS:
        course.end = End.CRASHED
        course.error = (
            f"BrowserError: {course.broken}; the same actions broke the page in {again} of {tries} repetitions"
        )
        return
    why = f"the agent's own actions make the page unusable, each time they are repeated: {course.broken}"
    course.end, course.error = End.PAGE_BROKEN, why
    course.verdict = Verdict(Outcome.FAILED, (CheckResult("usable page", False, why),))


@contextmanager
def _unless_cancelled() -> Iterator[None]:
    """A CancelledError of something that was waited for, as a future of an engine that closed, is no cancellation."""
    task = asyncio.current_task()
    before = task.cancelling() if task else 0  # whoever runs the episode may have been cancelled once, and gone on
    try:
        yield
    except asyncio.CancelledError as error:
        if task is None or task.cancelling() > before:
            raise
        raise InfraError("what the episode waited for was cancelled") from error


def _describe(error: InfraError) -> str:
    """With the line of code, when it is an error that nobody foresaw."""
    text, cause = f"{type(error).__name__}: {error}", error.__cause__
    if type(error) is not InfraError or cause is None or not (frames := traceback.extract_tb(cause.__traceback__)):
        return text
    return f"{text} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"


def unjudged_because(verdict: Verdict) -> str | None:
    """What the user has to mend when a check of their own broke."""
    reasons = [result.reason for result in verdict.results if not result.passed]
    return "; ".join(reasons) or None if verdict.outcome is Outcome.UNJUDGED else None


async def _play(course: _Course, episode: str, task: Task, seed: int, agent: Agent, visit: Visit) -> None:
    """The turns that are given, then turns of the agent's own until it stops or a limit does it."""
    limits, history = agent.limits, list[Completion]()
    deadline = time.monotonic() + limits.episode_s
    reading = Reading()
    for index in range(limits.max_turns):
        if time.monotonic() > deadline:
            raise InfraError(f"the episode took longer than {limits.episode_s:g} s (rollout.episode_s)")
        visit.require_site()
        looked = time.monotonic()
        observation = reading.show(await visit.session.observe())
        world = visit.world()
        asked = time.monotonic()
        prompt = agent.builder.prompt(episode, task, history, observation)
        given = course.opening.turns[index] if index < len(course.opening.turns) else None
        picture = asyncio.ensure_future(_screenshot(agent, visit, f"{episode}-{index:02d}"))
        try:
            if given:
                require_same(given, observation, world, index + 1)
                completion, action, read_as = given.completion, given.action, given.read_as
            else:
                completion = await _ask(agent, prompt, turn_seed(seed, index))
                action, read_as = agent.builder.grammar.read(completion.text, observation.elements)
            await asyncio.wait([picture], timeout=PICTURE_S)  # before the page changes
            screenshot = picture.result() if picture.done() else None
        except TokenLimit as limit:
            course.end, course.error = End.TOKEN_LIMIT, str(limit)
            return
        finally:
            picture.cancel()
            await asyncio.gather(picture, return_exceptions=True)
        replied = time.monotonic()
        history.append(completion)
        # Whoever demonstrates is shown whole pages: what was the browser's to scroll then is so now.
        paged = reading.turn(action, prompt.cut if given is None or given.paged else None, read_as)
        try:
            match action:
                case Exit(message):
                    course.end, course.answer = End.STOPPED, message
                case Unparsable():
                    pass
                case _ if not paged:
                    await visit.session.perform(action)
        finally:  # an action that breaks the page is part of the episode: it may be what is to be learned from
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
                    world=world,
                    read_as=read_as,
                )
            )
        if course.end is End.STOPPED or visit.over():
            if given:
                raise InfraError("the given turns end the episode: nothing is left for the policy to do")
            course.end = End.STOPPED
            return


async def _ask(agent: Agent, prompt: Prompt, seed: int) -> Completion:
    limits = agent.limits
    sampling = Sampling(limits.max_new_tokens, limits.temperature, seed)
    try:
        async with asyncio.timeout(limits.reply_s):
            return await agent.policy.complete(prompt, sampling)
    except TimeoutError:
        raise PolicyError(f"no reply within {limits.reply_s:.0f} s") from None


async def _screenshot(agent: Agent, visit: Visit, name: str) -> str | None:
    """Taken while the policy thinks. One that cannot be taken is missing, nothing more: it is for people alone."""
    if agent.save_screenshot is None:
        return None
    try:
        jpeg = await visit.session.screenshot()
    except BrowserError:
        return None
    try:
        return agent.save_screenshot(name, jpeg)
    except OSError as error:
        raise UserError(
            f"cannot write a screenshot ({error.strerror}): make room or permit writing, then run the same command "
            "again; what was finished is kept"
        ) from error


def turn_seed(seed: int, turn: int) -> int:
    """Every turn of every episode draws from a stream of its own."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{turn}".encode()).digest()[:6])
