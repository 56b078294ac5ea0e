"""What figures and lists need of a trajectory: a few facts, without its pages and tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from clickgrad.types import End, Trajectory

MOST = 1e300  # beyond it an integer may be no float
_GROUP = re.compile(r"(step-(\d+)/task-\d+)/member-")


@dataclass(frozen=True, slots=True)
class Episode:
    name: str  # as the trajectory's `episode`
    task: str
    template: str
    sites: tuple[str, ...]
    intent: str
    policy: str
    end: str
    reward: float | None
    turns: int
    reply_tokens: int
    prompt_tokens: int
    seconds: float
    answer: str | None
    error: str | None
    failed: tuple[str, ...]  # kinds of the checks that failed

    @classmethod
    def of(cls, trajectory: Trajectory) -> Episode:
        task = trajectory.task
        return cls(
            name=trajectory.episode,
            task=task.id,
            template=task.template,
            sites=task.sites,
            intent=task.intent,
            policy=trajectory.policy,
            end=trajectory.end.value,
            reward=trajectory.reward,
            turns=len(trajectory.turns),
            reply_tokens=sum(len(turn.completion.ids) for turn in trajectory.turns),
            prompt_tokens=sum(len(turn.prompt_ids) for turn in trajectory.turns),
            seconds=trajectory.seconds,
            answer=trajectory.answer,
            error=trajectory.error,
            failed=tuple(result.check for result in trajectory.verdict.results if not result.passed),
        )

    @property
    def usable(self) -> bool:
        return self.reward is not None

    @property
    def met_unusable_page(self) -> bool:
        """It crashed because the page could not be used before the agent had done anything."""
        return self.end == End.CRASHED and (self.error or "").startswith("PageError:")

    @property
    def site(self) -> str:
        return "+".join(self.sites)

    @property
    def slot(self) -> str:
        """The place that the tries of one episode compete for."""
        return self.name.rpartition("/try-")[0] or self.name

    @property
    def group(self) -> str | None:
        """`step-0003/task-00012` of `step-0003/task-00012/member-5/try-0`; None outside of training."""
        match = _GROUP.match(self.name)
        return match[1] if match else None

    @property
    def step(self) -> int | None:
        match = _GROUP.match(self.name)
        return int(match[2]) if match else None

    @property
    def cause(self) -> str:
        """Why it did not pass, in a word or two that can be counted; "" when it did."""
        if self.reward == 1.0:
            return ""
        if self.met_unusable_page:
            return "unusable page"
        if self.end == End.PAGE_BROKEN:
            return "page broken"
        if self.end == End.CRASHED:
            return f"crashed: {(self.error or 'unknown').partition(':')[0]}"
        if self.reward is None:
            return f"unjudged: {self.error}" if self.error else "unjudged"
        wrong = " and ".join(dict.fromkeys(self.failed)) or "no check"
        return f"wrong {wrong}" if self.end == End.STOPPED else f"{self.end.replace('_', ' ')}, wrong {wrong}"


def read_episode(plain: Mapping[str, Any]) -> Episode:
    """From a stored record of this or another version: what is missing is left empty.

    A record without a name, a task or turns is none: KeyError, TypeError, AttributeError or ValueError.
    """
    task, turns = plain["task"], plain["turns"]
    replies = [turn["completion"] for turn in turns]
    evidence, verdict = plain.get("evidence") or {}, plain.get("verdict") or {}
    return Episode(
        name=str(plain["episode"]),
        task=str(task["id"]),
        template=str(task.get("template", "")),
        sites=tuple(map(str, task.get("sites", ()))),
        intent=str(task.get("intent", "")),
        policy=str(plain.get("policy", "")),
        end=str(plain.get("end", "")),
        reward=_number(plain.get("reward")),
        turns=len(turns),
        reply_tokens=sum(len(reply["ids"]) for reply in replies),
        prompt_tokens=sum(len(turn["prompt_ids"]) for turn in turns),
        seconds=_number(plain.get("seconds")) or 0.0,
        answer=_text(evidence.get("answer", plain.get("answer"))),
        error=_text(plain.get("error")),
        failed=tuple(str(result["check"]) for result in verdict.get("results", ()) if not result["passed"]),
    )


def _number(value: Any) -> float | None:
    if value is not None and not (isinstance(value, int | float) and -MOST < value < MOST):
        raise ValueError(f"{str(value)[:40]} is no number")
    return value


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def final_tries(episodes: Iterable[Episode]) -> list[Episode]:
    """One a slot, in the order of the slots: the first usable try, or the last one if none was."""
    chosen: dict[str, Episode] = {}
    for episode in episodes:
        before = chosen.get(episode.slot)
        if before is None or not before.usable:
            chosen[episode.slot] = episode
    return list(chosen.values())
