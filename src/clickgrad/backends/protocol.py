"""Where a run happens, as the recipes see it: one protocol; this process (with torchrun) and Ray implement it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol, TypeVar

from clickgrad.backends.policies import PolicySpec
from clickgrad.learn.learner import Learner
from clickgrad.learn.spec import LearnerSpec
from clickgrad.types import USUAL, Opening, Task, Trajectory


class Players(Protocol):
    """Browsers, sites and whoever answers: they play the episodes of one policy."""

    async def play(self, episode: str, task: Task, seed: int, opening: Opening = USUAL) -> Trajectory: ...

    async def push_weights(self, version: int) -> None:
        """From here on the learner's weights of now answer, as `version`. Only players of a learner have any."""

    async def rest(self) -> None:
        """Nobody plays until the next push: engines that share the learner's devices make room."""

    def figures(self) -> Mapping[str, float]:
        """For the metrics of a step: since the last call."""


TheLearner = TypeVar("TheLearner", bound=Learner)  # a backend's own: its players take no other


class Backend(Protocol[TheLearner]):
    def learner(self, spec: LearnerSpec) -> AbstractContextManager[TheLearner]:
        """A policy in training, for as long as the block lasts."""

    def training_players(self, learner: TheLearner) -> AbstractAsyncContextManager[Players]:
        """Episodes of the policy that `learner` becomes."""

    def players(self, policy: PolicySpec) -> AbstractAsyncContextManager[Players]:
        """Episodes of a finished policy, in an evaluation."""
