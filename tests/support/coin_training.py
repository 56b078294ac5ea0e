"""A training run of the coin tosser in a process of its own, much longer than anybody looks at it."""

from __future__ import annotations

from pathlib import Path
from subprocess import Popen

from commands import reinforce_coin, start


def train(coin: Path, runs: Path) -> Popen[str]:
    """Many more steps than are looked at: it is ended when enough was seen."""
    words = reinforce_coin(
        coin,
        runs / "coin",
        rollout__screenshots="true",
        lora__rank=4,
        reinforce__steps=500,
        reinforce__groups=2,
        reinforce__group_size=4,
    )
    return start(words, runs)
