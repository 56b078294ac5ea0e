"""M-GRPO worked out with nothing but arithmetic, and the code against it, for every normalizer, with clip and KL.

One task, G = 3. Rewards 1, 0, 0: mean 1/3, std sqrt(2)/3, advantages sqrt 2, -sqrt 1/2, -sqrt 1/2.
Trajectory 0 has turns of 2 and 3 tokens, 1 has turns of 4, 2 and 2, 2 has turns of 3 and 2: 18 tokens in all.
"""

from __future__ import annotations

from math import exp, sqrt

import pytest
import torch
from tiny import make_trajectory, make_turn

from clickgrad.learn.logprobs import collate
from clickgrad.learn.losses import grpo_loss
from clickgrad.learn.samples import Normalizer, grpo_samples
from clickgrad.learn.spec import UpdateOptions

LENGTHS = ((2, 3), (4, 2, 2), (3, 2))
REWARDS = (1.0, 0.0, 0.0)
ADVANTAGES = (sqrt(2), -sqrt(1 / 2), -sqrt(1 / 2))
MAX_TURNS = 5
TOKENS = 18


def number(trajectory: int, turn: int, token: int, *, salt: int) -> float:
    """A fixed made-up number between 0 and 1."""
    return ((37 * trajectory + 17 * turn + 7 * token + 11 * salt) % 29) / 29


def sampler(*at: int) -> float:
    return -0.2 - number(*at, salt=1)


def policy(*at: int) -> float:
    return sampler(*at) + 0.8 * (number(*at, salt=2) - 0.5)


def reference(*at: int) -> float:
    return sampler(*at) + 0.6 * (number(*at, salt=3) - 0.5)


def trainer_before(*at: int) -> float:
    return sampler(*at) + 0.9 * (number(*at, salt=4) - 0.4)


def weight(normalizer: Normalizer, turns: int, tokens: int) -> float:
    """Of one token: the paper's 1/G 1/|tau| 1/|a|, or what replaces it."""
    if normalizer == "paper":
        return 1 / 3 / turns / tokens
    if normalizer == "constant":
        return 1 / 3 / MAX_TURNS / tokens
    return 1 / TOKENS


def by_hand(normalizer: Normalizer, clip: float, kl_beta: float, cap: float) -> float:
    loss = 0.0
    for i, lengths in enumerate(LENGTHS):
        for j, tokens in enumerate(lengths):
            for t in range(tokens):
                old = trainer_before(i, j, t) if cap else sampler(i, j, t)
                rho = exp(policy(i, j, t) - old)
                clipped = max(1 - clip, min(1 + clip, rho))
                gain = min(rho * ADVANTAGES[i], clipped * ADVANTAGES[i])
                if cap:
                    gain *= min(cap, exp(trainer_before(i, j, t) - sampler(i, j, t)))
                away = reference(i, j, t) - policy(i, j, t)
                k3 = exp(away) - away - 1
                loss -= weight(normalizer, len(lengths), tokens) * (gain - kl_beta * k3)
    return loss


@pytest.mark.parametrize("normalizer", ["paper", "constant", "token"])
@pytest.mark.parametrize("clip", [0.2, 1e9])
@pytest.mark.parametrize("kl_beta", [0.0, 0.1])
@pytest.mark.parametrize("cap", [0.0, 1.3])
def test_the_code_equals_the_arithmetic(normalizer: Normalizer, clip: float, kl_beta: float, cap: float) -> None:
    group = [
        make_trajectory(
            [
                make_turn([1, i + 2, j + 5], [9] * tokens, [sampler(i, j, t) for t in range(tokens)])
                for j, tokens in enumerate(lengths)
            ],
            REWARDS[i],
        )
        for i, lengths in enumerate(LENGTHS)
    ]
    samples = grpo_samples([group], normalizer, MAX_TURNS)
    batch = collate(samples)
    turns = [(i, j, tokens) for i, lengths in enumerate(LENGTHS) for j, tokens in enumerate(lengths)]

    def table(value: object) -> torch.Tensor:
        rows = [[0.0] * (4 - tokens) + [value(i, j, t) for t in range(tokens)] for i, j, tokens in turns]  # type: ignore[operator]
        return torch.tensor(rows, dtype=torch.float64)

    options = UpdateOptions(0.0, clip=clip, kl_beta=kl_beta, importance_cap=cap)
    known, before = table(reference) if kl_beta else None, table(trainer_before) if cap else None
    terms = grpo_loss(table(policy), batch, options, known, before)
    assert float(terms.loss) == pytest.approx(by_hand(normalizer, clip, kl_beta, cap), rel=1e-5, abs=1e-7)
