"""Episodes for onlookers: what each running one has come to, in files of a folder, while somebody watches.

The folder is the seam between the process that plays and the one that serves the viewer, so any running episode can be
watched without a server in the training process. Nothing is written unless the file `wanted` was touched within the
last seconds: unwatched, an episode costs a look at that file every turn. What is watched is the same episode: the
policy is asked what it would be asked, and the page is only looked at.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clickgrad.agent.lenient import Grammar
from clickgrad.codec import to_plain
from clickgrad.errors import InfraError
from clickgrad.policy.protocol import Policy, Streaming
from clickgrad.rollout.venue import Venue, Visit
from clickgrad.run_layout import WANTED
from clickgrad.tasks.checks import judge
from clickgrad.types import Action, Completion, Evidence, Exit, Prompt, Sampling, Task, Trajectory, Unparsable

WANTED_S = 6.0  # since the last touch
TOKENS_EVERY_S = 0.1
KEPT_S = 120.0  # an ended episode's files, when the next one begins


def live_name(episode: str) -> str:
    """Of an episode's files. An episode's own name may hold anything."""
    return hashlib.sha256(episode.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class LiveFolder:
    """Where a process tells of the episodes it plays."""

    path: Path
    always: bool = False  # somebody watches for certain
    universe: int | None = None  # the seed of the sites, where they are the bundled ones: then rows have names
    pace_s: float = 0.0  # between a reply and its action, so that a person can see what is about to happen

    @contextmanager
    def opened(self) -> Iterator[LiveFolder]:
        """It is there for as long as the block lasts, and holds nothing of an earlier process."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            self.path.mkdir(parents=True)
        try:
            yield self
        finally:
            shutil.rmtree(self.path, ignore_errors=True)

    def is_wanted(self) -> bool:
        if self.always:
            return True
        try:
            return time.time() - (self.path / WANTED).stat().st_mtime < WANTED_S
        except OSError:
            return False

    def sweep(self) -> None:
        with suppress(OSError):
            for file in self.path.iterdir():
                if file.name != WANTED and time.time() - file.stat().st_mtime > KEPT_S:
                    file.unlink()


class LiveEpisode:
    """One episode, told as it goes. Wrap its policy and its venue, and hand over the trajectory at the end."""

    def __init__(self, folder: LiveFolder, episode: str, task: Task, grammar: Grammar) -> None:
        self._folder = folder
        self._name = live_name(episode)
        self._grammar = grammar
        self._visit: Visit | None = None
        self._partial = self._told_partial = ""
        self._turns: list[dict[str, Any]] = []
        self._pictures = 0
        self._state: dict[str, Any] = {
            "episode": episode,
            "pid": os.getpid(),
            "task": {"id": task.id, "intent": task.intent, "user": task.user, "start_url": task.start_url},
            "policy": "",
            "phase": "opening",
            "checks": [],
            "results": [],
        }
        if not folder.always:
            folder.sweep()

    def policy(self, policy: Policy) -> Policy:
        self._state["policy"] = policy.name
        return _WatchedPolicy(policy, self)

    def venue(self, venue: Venue) -> Venue:
        return _WatchedVenue(venue, self)

    def ended(self, trajectory: Trajectory) -> None:
        """The verdict, for those who have watched."""
        if not self.is_told and not self._folder.is_wanted():
            return
        verdict = to_plain(trajectory.verdict)
        self._state |= {
            "phase": "ended",
            "end": trajectory.end.value,
            "outcome": verdict["outcome"],
            "results": verdict["results"],
            "reward": trajectory.reward,
            "error": trajectory.error,
            "answer": trajectory.answer,
            "evidence": to_plain(trajectory.evidence) if trajectory.evidence else None,
            "seconds": trajectory.seconds,
            "judged": {"task": to_plain(trajectory.task), "universe": self._folder.universe},
        }
        self._write()

    async def reply(self, policy: Policy, prompt: Prompt, sampling: Sampling) -> Completion:
        if not self._folder.is_wanted():
            return await policy.complete(prompt, sampling)
        self._turns.append({"observation": to_plain(prompt.observation), "completion": {"text": ""}, "action": None})
        self._state |= {"phase": "thinking", "prompt_tokens": len(prompt.ids)}
        self._partial = self._told_partial = ""
        if isinstance(policy, Streaming):
            policy.listen(prompt.episode, self._hear)
        looking, telling = asyncio.create_task(self._look(prompt.task)), asyncio.create_task(self._tell_tokens())
        try:
            completion = await policy.complete(prompt, sampling)
            await looking  # before the page changes
        finally:
            looking.cancel()
            telling.cancel()
            await asyncio.gather(looking, telling, return_exceptions=True)
            if isinstance(policy, Streaming):
                policy.listen(prompt.episode, None)
        action, _ = self._grammar.read(completion.text, prompt.observation.elements)
        self._tell_reply(completion, action)
        if self._folder.pace_s and not isinstance(action, Exit):
            await asyncio.sleep(self._folder.pace_s)
        return completion

    async def _look(self, task: Task) -> None:
        self._write()
        await self.photograph()
        self._state["checks"] = await self._peek(task)
        self._write()

    async def _tell_tokens(self) -> None:
        """The reply as it grows; until it is cancelled."""
        while True:
            await asyncio.sleep(TOKENS_EVERY_S)
            if self._partial != self._told_partial:
                self._told_partial = self._partial
                self._put("now.json", json.dumps({"turn": len(self._turns), "reply": self._partial}).encode())

    def _hear(self, reply: str) -> None:
        """Called on the engine's thread: only remembers."""
        self._partial = reply

    def _tell_reply(self, completion: Completion, action: Action | Unparsable) -> None:
        told = {
            "text": completion.text,
            "logprobs": list(completion.logprobs),
            "finish": completion.finish.value,
            "policy_version": completion.policy_version,
        }
        self._turns[-1] |= {"completion": told, "action": to_plain(action)}
        self._state["phase"] = "judging" if isinstance(action, Exit) else "acting"
        self._write()

    async def photograph(self) -> None:
        if self._visit is None:
            return
        with suppress(InfraError):
            self._put("jpg", await self._visit.session.screenshot())
            self._pictures += 1

    async def _peek(self, task: Task) -> list[Mapping[str, Any]]:
        """Which checks hold by now, where looking changes nothing. Not why: that would give answers away."""
        if self._visit is None or self._visit.peek is None:
            return []
        with suppress(InfraError):
            results = judge(self._visit.task or task, await self._visit.peek()).results
            return [{"check": result.check, "passed": result.passed} for result in results]
        return []

    @property
    def is_told(self) -> bool:
        return bool(self._turns)

    def opened(self, visit: Visit) -> None:
        self._visit = visit
        if visit.task is not None:
            self._state["task"]["intent"] = visit.task.intent

    def closed(self) -> None:
        self._visit = None

    def _write(self) -> None:
        state = self._state | {"turns": self._turns, "pictures": self._pictures}
        self._put("json", json.dumps(state).encode())

    def _put(self, suffix: str, content: bytes) -> None:
        """All at once for whoever reads it. An onlooker is not worth an error of the episode."""
        file = self._folder.path / f"{self._name}.{suffix}"
        partial = file.with_name(f".{file.name}")
        with suppress(OSError):
            partial.write_bytes(content)
            partial.replace(file)


class _WatchedPolicy:
    def __init__(self, policy: Policy, live: LiveEpisode) -> None:
        self._policy = policy
        self._live = live

    @property
    def name(self) -> str:
        return self._policy.name

    @property
    def version(self) -> int:
        return self._policy.version

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        return await self._live.reply(self._policy, prompt, sampling)

    def forget(self, episode: str) -> None:
        self._policy.forget(episode)

    def close(self) -> None:
        self._policy.close()


class _WatchedVenue:
    def __init__(self, venue: Venue, live: LiveEpisode) -> None:
        self._venue = venue
        self._live = live

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        async with self._venue.open(task) as visit:
            self._live.opened(visit)
            try:
                yield replace(visit, evidence=self._last_look(visit.evidence))
            finally:
                self._live.closed()

    def _last_look(self, evidence: Callable[[str | None], Any]) -> Callable[[str | None], Any]:
        async def look(answer: str | None) -> Evidence:
            found: Evidence = await evidence(answer)
            if self._live.is_told:
                await self._live.photograph()
            return found

        return look
