from __future__ import annotations

import pytest
import torch

from clickgrad.policy.draws import BLOCK, choose, draw


def test_the_token_is_the_one_at_which_the_sums_pass_the_lot() -> None:
    chances = torch.tensor([[0.2, 0.5, 0.3]] * 4)
    lots = torch.tensor([0.0, 0.19, 0.6, 0.71], dtype=torch.float64)
    assert draw(chances, lots).tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("size", [7, BLOCK, 3 * BLOCK, 5 * BLOCK + 11])
def test_blocks_find_what_adding_up_one_by_one_finds(size: int) -> None:
    generator = torch.Generator().manual_seed(size)
    chances = torch.softmax(4 * torch.randn(500, size, generator=generator), -1)
    lots = torch.rand(500, dtype=torch.float64, generator=generator)
    sums = chances.double().cumsum(-1)
    expected = torch.searchsorted(sums, (lots * sums[:, -1])[:, None], right=True)[:, 0]
    assert (draw(chances, lots) == expected).all()


def test_what_is_impossible_is_never_drawn() -> None:
    chances = torch.zeros(200, 3 * BLOCK)
    chances[:, BLOCK + 3] = chances[:, 2 * BLOCK - 40] = 0.5
    lots = torch.linspace(0, 1 - 1e-9, 200, dtype=torch.float64)
    assert set(draw(chances, lots).tolist()) == {BLOCK + 3, 2 * BLOCK - 40}


def test_without_temperature_the_likeliest_is_taken_and_its_logprob_is_that_of_temperature_one() -> None:
    logits = torch.tensor([[1.0, 3.0, 2.0], [1.0, 3.0, 2.0], [1.0, 3.0, 2.0]])
    tokens, logprobs = choose(logits, [0.0, 1.0, 0.5], [0.99, 0.0, 0.0])
    assert tokens.tolist() == [1, 0, 0]
    expected = [torch.log_softmax(logits[0], -1)[1], torch.log_softmax(logits[0], -1)[0]]
    expected.append(torch.log_softmax(logits[0] / 0.5, -1)[0])
    torch.testing.assert_close(logprobs, torch.stack(expected))
