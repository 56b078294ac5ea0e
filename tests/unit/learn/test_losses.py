"""The paper's loss against numbers worked out by hand."""

from __future__ import annotations

from math import exp, log, sqrt

import pytest
import torch
from tiny import make_trajectory, make_turn

from clickgrad.errors import UserError
from clickgrad.learn.logprobs import collate
from clickgrad.learn.losses import clone_loss, grpo_loss
from clickgrad.learn.samples import Normalizer, clone_samples, grpo_samples, refuse_foreign
from clickgrad.learn.spec import UpdateOptions
from clickgrad.types import Sample

# One group: A passed in two turns (2 and 1 tokens), B failed in one turn (2 tokens), C crashed.
OLD = -1.0
GROUP = [
    make_trajectory([make_turn([1, 2], [3, 4], [OLD, OLD]), make_turn([5], [6], [OLD])], 1.0),
    make_trajectory([make_turn([1, 2], [7, 8], [OLD, OLD])], 0.0),
    make_trajectory([make_turn([1, 2], [9], [OLD])], None),
]


def samples_of(normalizer: Normalizer, max_turns: int = 4) -> tuple[Sample, ...]:
    return grpo_samples([GROUP], normalizer, max_turns)


def test_samples_hold_prompt_and_reply_and_leave_out_the_crashed() -> None:
    samples = samples_of("paper")
    assert [sample.ids for sample in samples] == [(1, 2, 3, 4), (5, 6), (1, 2, 7, 8)]
    assert [sample.reply_len for sample in samples] == [2, 1, 2]
    assert [sample.advantage for sample in samples] == [1.0, 1.0, -1.0]


@pytest.mark.parametrize(
    ("normalizer", "weights"),
    [
        ("paper", [1 / 2 / 2, 1 / 2 / 2, 1 / 2 / 1]),  # 1/G * 1/|tau|, G = 2 usable members
        ("constant", [1 / 2 / 4, 1 / 2 / 4, 1 / 2 / 4]),  # 1/G * 1/max_turns
        ("token", [2 / 5, 1 / 5, 2 / 5]),  # a turn's share of the five sampled tokens
    ],
)
def test_weights_by_normalizer(normalizer: Normalizer, weights: list[float]) -> None:
    assert [sample.weight for sample in samples_of(normalizer)] == pytest.approx(weights)


def test_a_turn_that_the_whole_group_took_is_pulled_by_the_papers_weights_and_not_by_equal_ones() -> None:
    """It passed in three turns and failed in two: 1/2/3 - 1/2/2 = -1/12 by the paper, by equal ones 1/2/4 - 1/2/4."""
    same, also, left_out = make_turn([1], [2]), make_turn([3], [4]), make_turn([5], [6])
    group = [make_trajectory([same, also, left_out], 1.0), make_trajectory([same, left_out], 0.0)]

    def pull(normalizer: Normalizer) -> float:
        found = grpo_samples([group], normalizer, 4)
        return sum(sample.weight * sample.advantage for sample in found if sample.ids == (1, 2))

    assert pull("paper") == pytest.approx(-1 / 12)
    assert pull("constant") == 0


def test_groups_are_averaged_and_those_without_contrast_left_out() -> None:
    flat = [make_trajectory([make_turn([1], [2])], 0.0), make_trajectory([make_turn([1], [3])], 0.0)]
    samples = grpo_samples([GROUP, flat, GROUP], "paper")
    assert len(samples) == 6
    assert samples[0].weight == pytest.approx(1 / 2 / 2 / 2)


def new_logprobs(rows: list[list[float]]) -> torch.Tensor:
    return torch.tensor(rows, requires_grad=True)


def test_the_loss_is_the_papers() -> None:
    """Ratios: turn 1 exp(.1), exp(-.1); turn 2 exp(.3) which the clip at 1.2 stops; B exp(.5) and 1.

    A = +1: turn 1 gains (e^.1 + e^-.1)/2, turn 2 gains 1.2. A = -1: the clip does not protect a growing mistake,
    so B's gain is -(e^.5 + 1)/2.
    """
    batch = collate(samples_of("paper"))
    logprobs = new_logprobs([[-0.9, -1.1], [0.0, -0.7], [-0.5, -1.0]])
    terms = grpo_loss(logprobs, batch, UpdateOptions(0.0, clip=0.2, kl_beta=0.0))
    expected = -(0.25 * (exp(0.1) + exp(-0.1)) / 2 + 0.25 * 1.2 - 0.5 * (exp(0.5) + 1) / 2)
    assert float(terms.loss.detach()) == pytest.approx(expected, rel=1e-6)
    assert int(terms.ratio_clipped) == 1


def test_a_clipped_token_has_no_gradient_and_padding_never_has() -> None:
    batch = collate(samples_of("paper"))
    logprobs = new_logprobs([[-1.0, -1.0], [float("-inf"), -0.5], [-1.0, -1.0]])
    grpo_loss(logprobs, batch, UpdateOptions(0.0, clip=0.2, kl_beta=0.0)).loss.backward()  # type: ignore[no-untyped-call]
    assert logprobs.grad is not None
    # Row 2 has one token, clipped; its padding held -inf. Elsewhere d/dlogp = -weight * A / |a|.
    assert logprobs.grad.tolist() == [[-0.125, -0.125], [0.0, 0.0], [0.25, 0.25]]


def test_kl_is_k3_against_the_reference() -> None:
    """d = log ref - log policy = ln 2 on one token: k3 = 2 - ln 2 - 1. Policy equals sampler, so gains are +-1."""
    batch = collate(samples_of("paper"))
    logprobs = new_logprobs([[-1.0, -1.0], [0.0, -1.0], [-1.0, -1.0]])
    reference = logprobs.detach().clone()
    reference[0, 0] += log(2)
    terms = grpo_loss(logprobs, batch, UpdateOptions(0.0, clip=0.2, kl_beta=0.1), reference)
    gains = 0.25 * 1 + 0.25 * 1 - 0.5 * 1
    assert float(terms.kl) == pytest.approx(1 - log(2), rel=1e-6)
    assert float(terms.loss.detach()) == pytest.approx(-(gains - 0.25 * 0.1 * (1 - log(2)) / 2), rel=1e-5)


def test_three_members_with_their_own_advantages() -> None:
    """G = 3, rewards 1, 0, 0; ratios 1 everywhere: the loss is -(A1 + A2 + A3)/3 = 0, its gradient is not."""
    group = [
        make_trajectory([make_turn([1], [n, n + 1], [OLD, OLD])], reward)
        for n, reward in ((2, 1.0), (4, 0.0), (6, 0.0))
    ]
    batch = collate(grpo_samples([group], "paper"))
    logprobs = new_logprobs([[OLD, OLD]] * 3)
    terms = grpo_loss(logprobs, batch, UpdateOptions(0.0, clip=0.2, kl_beta=0.0))
    terms.loss.backward()  # type: ignore[no-untyped-call]
    assert float(terms.loss.detach()) == pytest.approx(0.0, abs=1e-7)
    assert logprobs.grad is not None
    assert logprobs.grad[:, 0].tolist() == pytest.approx([-sqrt(2) / 6, sqrt(0.5) / 6, sqrt(0.5) / 6])


def test_cloning_averages_over_the_tokens_of_a_reply() -> None:
    batch = collate(clone_samples(GROUP[0]))
    loss = clone_loss(new_logprobs([[-1.0, -3.0], [9.0, -5.0]]), batch)
    assert float(loss.detach()) == pytest.approx(2.0 + 5.0)


def test_trajectories_in_other_tokens_are_refused_by_name() -> None:
    with pytest.raises(UserError, match="episode was recorded with prompt format format, this run's is other"):
        refuse_foreign(GROUP, "other")


def test_the_clip_may_have_another_upper_side() -> None:
    """Ratios 1.25 and 0.7, advantage 1: up to 1.28 the first gains all of 1.25, at 1.2 it is stopped."""
    batch = collate([Sample((1, 2, 3), 2, (0.0, 0.0), 1.0, 1.0)])
    new = new_logprobs([[log(1.25), log(0.7)]]).detach()
    assert float(grpo_loss(new, batch, UpdateOptions(lr=1)).loss) == pytest.approx(-(1.2 + 0.7) / 2)
    wider = grpo_loss(new, batch, UpdateOptions(lr=1, clip_high=0.28))
    assert float(wider.loss) == pytest.approx(-(1.25 + 0.7) / 2)
    assert int(wider.ratio_clipped) == 0


def test_a_turn_too_far_from_who_said_it_teaches_nothing_where_ratios_are_bounded() -> None:
    """Geometric means of 4 and 1: 2, within the bound. Of 4 and 2: 2.83, beyond it; of 1/4 and 1/2 too."""
    batch = collate([Sample((1, 2, 3), 2, (0.0, 0.0), 1.0, 1.0)] * 3)
    new = new_logprobs([[log(4), 0.0], [log(4), log(2)], [log(1 / 4), log(1 / 2)]])
    options = UpdateOptions(lr=1, clip=9.0, ratio_bound=2.0)
    terms = grpo_loss(new, batch, options)
    assert terms.loss.item() == pytest.approx(-(4 + 1) / 2)
    terms.loss.backward()  # type: ignore[no-untyped-call]
    assert new.grad is not None
    assert new.grad.abs().sum(1)[1:].tolist() == [0, 0]
