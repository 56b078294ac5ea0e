from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny import new_learner, tiny_model, tiny_tokenizer

from clickgrad.learn.logprobs import Rows, collate, micro_batches, reply_logprobs
from clickgrad.learn.spec import UpdateOptions
from clickgrad.policy.models import LoadedModel
from clickgrad.types import Sample


def sample(ids: list[int], reply_len: int, advantage: float = 1.0) -> Sample:
    return Sample(tuple(ids), reply_len, (-1.0,) * reply_len, advantage, 1.0)


@pytest.fixture
def loaded() -> LoadedModel:
    return tiny_model(tiny_tokenizer(["some text"]))


SAMPLES = [
    sample([7, 8, 9, 10, 11], 2),
    sample([5, 6, 7], 1, -1.0),
    sample([7, 8, 9, 10, 11], 2, -2.0),
    sample([3, 4], 1),
]


def test_the_example_of_the_docstring() -> None:
    batch = collate([sample([7, 8, 9], 1), sample([5, 6], 2), sample([7, 8, 9], 1)])
    assert isinstance(batch.layout, Rows)
    assert batch.layout.ids_UN.tolist() == [[7, 8, 9], [0, 5, 6]]
    assert batch.layout.attention_UN.tolist() == [[1, 1, 1], [0, 1, 1]]
    assert batch.loss_BK.tolist() == [[0.0, 1.0], [1.0, 1.0], [0.0, 1.0]]
    assert batch.layout.row_B.tolist() == [0, 1, 0]


def test_padding_and_sharing_rows_change_no_logprob(loaded: LoadedModel) -> None:
    batch = collate(SAMPLES)
    with torch.no_grad():
        together, _ = reply_logprobs(loaded.model, batch)
        for row, one in enumerate(SAMPLES):
            logits = loaded.model(torch.tensor([one.ids])).logits[0]
            plain = torch.log_softmax(logits, -1)
            for place in range(one.reply_len):
                at = len(one.ids) - one.reply_len + place
                expected = plain[at - 1, one.ids[at]]
                assert together[row, place - one.reply_len] == pytest.approx(float(expected), abs=1e-5)


@pytest.mark.parametrize("lora_rank", [0, 4])
def test_micro_batch_size_changes_no_gradient(loaded: LoadedModel, lora_rank: int) -> None:
    learner = new_learner(loaded, lora_rank, with_reference=True)
    gradients = []
    for micro_tokens in (1, 8, 1000):
        learner.update(SAMPLES, UpdateOptions(0.0, kl_beta=0.1, micro_tokens=micro_tokens))
        gradients.append(torch.cat([p.grad.flatten() for p in learner.model.parameters() if p.grad is not None]))
    assert float(gradients[0].norm()) > 0
    torch.testing.assert_close(gradients[1], gradients[0], rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(gradients[2], gradients[0], rtol=1e-4, atol=1e-6)


@given(st.lists(st.lists(st.integers(1, 5), min_size=2, max_size=9), min_size=1, max_size=12), st.integers(1, 40))
def test_micro_batches_hold_every_sample_once_within_the_budget(rows: list[list[int]], budget: int) -> None:
    samples = [sample(row, 1, advantage=float(index)) for index, row in enumerate(rows)]
    batches = list(micro_batches(samples, budget))
    assert sorted(one.advantage for batch in batches for one in batch) == [float(index) for index in range(len(rows))]
    for batch in batches:
        distinct = {one.ids for one in batch}
        assert len(distinct) == 1 or len(distinct) * max(map(len, distinct)) <= budget
    assert sum(len({one.ids for one in batch}) for batch in batches) == len({one.ids for one in samples})
