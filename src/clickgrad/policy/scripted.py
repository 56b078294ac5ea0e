"""Policies without a model: the scripted experts, and fixed replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from clickgrad.agent.grammar import ReplyFormat, render
from clickgrad.errors import PolicyError, UserError
from clickgrad.tasks.experts import Expert
from clickgrad.tasks.moves import ExpertLost, Move
from clickgrad.tasks.reasoning import think_aloud
from clickgrad.types import Completion, Exit, Finish, Prompt, Sampling

Remarks = Literal["short", "long"]
NOTE = "Note: "


class Explainer(Protocol):
    async def explain(self, prompt: Prompt, move: Move, notes: Sequence[str], reply_format: ReplyFormat) -> str:
        """Why the move is right, in the first person. `notes` are the facts written down in earlier turns."""


def written(text: str) -> Completion:
    """A reply nobody sampled: text without ids."""
    return Completion(text, (), (), Finish.STOP, policy_version=0)


class ExpertPolicy:
    """Plays each task's own expert, which sees observations as any agent does.

    `remarks` says how it explains itself: in one line, at length, or through someone else.
    """

    name = "scripted:expert"
    version = 0

    def __init__(self, reply_format: ReplyFormat, remarks: Remarks | Explainer = "short") -> None:
        self._reply_format: ReplyFormat = reply_format
        self._remarks: Remarks | Explainer = remarks
        self._experts: dict[str, Expert] = {}
        self._notes: dict[str, list[str]] = {}
        self._closed = False

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        if self._closed:
            raise PolicyError(f"{self.name} is closed")
        if prompt.episode not in self._experts:
            self._experts[prompt.episode] = Expert(prompt.task)
            self._notes[prompt.episode] = []
        try:
            move = self._experts[prompt.episode].move(prompt.observation)
        except ExpertLost as lost:
            move = Move(
                Exit(f"lost: {lost}"), "Note: I am lost", str(lost)
            )  # the expert failed the task, not the machinery
        notes = self._notes[prompt.episode]
        remark = await self._remark(prompt, move, notes)
        if move.remark.startswith(NOTE):
            notes.append(move.remark.removeprefix(NOTE))
        return written(render(move.action, remark, self._reply_format))

    async def _remark(self, prompt: Prompt, move: Move, notes: Sequence[str]) -> str:
        if self._remarks == "short":
            return move.remark
        if self._remarks == "long":
            return think_aloud(prompt.task, prompt.observation, move, notes)
        return await self._remarks.explain(prompt, move, notes, self._reply_format)

    def forget(self, episode: str) -> None:
        self._experts.pop(episode, None)
        self._notes.pop(episode, None)

    def close(self) -> None:
        self._closed = True
        self._experts.clear()
        self._notes.clear()


class FixedPolicy:
    """Says the same replies in every episode, the last one for ever."""

    version = 0

    def __init__(self, name: str, replies: Sequence[str]) -> None:
        self.name = name
        self._replies = tuple(replies)
        self._said: dict[str, int] = {}
        self._closed = False

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        if self._closed:
            raise PolicyError(f"{self.name} is closed")
        if not self._replies:
            raise PolicyError("a fixed policy needs at least one reply")
        turn = self._said.get(prompt.episode, 0)
        self._said[prompt.episode] = turn + 1
        return written(self._replies[min(turn, len(self._replies) - 1)])

    def forget(self, episode: str) -> None:
        self._said.pop(episode, None)

    def close(self) -> None:
        self._closed = True
        self._said.clear()


class RecordedPolicy:
    """Says again what was said in a demonstration of the task at hand; by task id. Then it gives up."""

    name = "recorded"
    version = 0

    def __init__(self, told: Mapping[str, Sequence[str]]) -> None:
        self._told = told
        self._said: dict[str, int] = {}
        self.longest = max(map(len, told.values()), default=0)

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        turn = self._said.get(prompt.episode, 0)
        self._said[prompt.episode] = turn + 1
        told = self._told.get(prompt.task.id, ())
        if turn >= len(told):
            raise PolicyError(f"no more was recorded of {prompt.task.id}")
        return written(told[turn])

    def forget(self, episode: str) -> None:
        self._said.pop(episode, None)

    def close(self) -> None:
        self._said.clear()


def noop_policy(reply_format: ReplyFormat) -> FixedPolicy:
    """Gives up at once: what every task must call a failure."""
    return FixedPolicy("scripted:noop", [render(Exit(""), "Note: giving up", reply_format)])


def replies_policy(name: str, path: Path) -> FixedPolicy:
    """A file's lines, one reply each; empty lines are passed over."""
    try:
        replies = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the replies in {path} ({error})") from None
    if not replies:
        raise UserError(f"{path} is empty: write one reply a line")
    return FixedPolicy(name, replies)
