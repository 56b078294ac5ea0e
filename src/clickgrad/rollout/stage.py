"""All that a process needs to play episodes: a venue, and an agent for whichever policy answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from clickgrad.policy.protocol import Policy
from clickgrad.rollout.episode import Agent
from clickgrad.rollout.venue import Venue


@dataclass(frozen=True, slots=True)
class Stage:
    venue: Venue
    agent_for: Callable[[Policy | None], Agent]  # by an engine elsewhere; None: the stage has a policy of its own


OpenStage = Callable[[asyncio.Runner], AbstractContextManager[Stage]]
