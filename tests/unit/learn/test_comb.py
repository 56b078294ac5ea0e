"""The comb computes what turns one by one would: ids and positions by hand, logprobs and gradients by comparison."""

from __future__ import annotations

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny import new_learner, tiny_model, tiny_tokenizer

from clickgrad.learn import comb as comb_module
from clickgrad.learn.comb import Block, pack
from clickgrad.learn.logprobs import collate, micro_batches, reply_logprobs
from clickgrad.learn.spec import UpdateOptions
from clickgrad.policy.models import LoadedModel
from clickgrad.types import Sample

ids_lists = st.lists(st.lists(st.integers(1, 3), min_size=2, max_size=9).map(tuple), min_size=1, max_size=10)


def comb_samples(seed: int = 0) -> list[Sample]:
    """Two groups of three trajectories of four turns, as an agent makes them: a trunk, and a page for every turn."""
    rng = random.Random(seed)

    def tokens(count: int) -> tuple[int, ...]:
        return tuple(rng.randrange(1, 60) for _ in range(count))

    system, samples = tokens(7), []
    for _ in range(2):
        task, first_page = tokens(5), tokens(11)
        for member in range(3):
            trunk = system + task
            for turn in range(4):
                page = first_page if turn == 0 else tokens(rng.randrange(8, 20))
                reply = tokens(rng.randrange(2, 6))
                logprobs = tuple(-rng.random() * 4 for _ in reply)
                samples.append(Sample(trunk + page + reply, len(reply), logprobs, 1.0 - member, 0.25))
                trunk += (1, 2, *reply)
    return [*samples, samples[3]]  # two members may say the same


@pytest.fixture
def loaded() -> LoadedModel:
    return tiny_model(tiny_tokenizer(["some text"]))


def test_the_example_of_the_docstring() -> None:
    comb = pack([(1, 6), (1, 2, 3, 4, 5), (1, 2, 8, 9), (1, 6)])
    assert comb.ids == (1, 2, 3, 4, 5, 8, 9, 6)
    assert comb.positions == (0, 1, 2, 3, 4, 2, 3, 1)
    assert comb.blocks == (Block((0, 5), ()), Block((5, 7), ((0, 2),)), Block((7, 8), ((0, 1),)))
    assert comb.paths == ((0, 7), (0, 1, 2, 3, 4), (0, 1, 5, 6), (0, 7))


def test_a_turn_that_another_one_begins_with_adds_nothing() -> None:
    comb = pack([(1, 2), (1, 2, 3)])
    assert comb.ids == (1, 2, 3)
    assert comb.paths == ((0, 1), (0, 1, 2))


@given(ids_lists)
def test_every_turn_is_found_along_its_path(turns: list[tuple[int, ...]]) -> None:
    comb = pack(turns)
    for turn, path in zip(turns, comb.paths, strict=True):
        assert tuple(comb.ids[place] for place in path) == turn
        assert tuple(comb.positions[place] for place in path) == tuple(range(len(turn)))
    distinct_beginnings = {turn[: end + 1] for turn in turns for end in range(len(turn))}
    assert len(comb.ids) == len(distinct_beginnings)  # every common token once


@given(ids_lists, st.integers(1, 30))
def test_micro_batches_keep_the_budget_and_lose_nothing(turns: list[tuple[int, ...]], budget: int) -> None:
    samples = [Sample(turn, 1, (-1.0,), float(index), 1.0) for index, turn in enumerate(turns)]
    batches = list(micro_batches(samples, budget, "comb"))
    assert sorted(one.advantage for batch in batches for one in batch) == [float(index) for index in range(len(turns))]
    for batch in batches:
        size = len(pack([one.ids for one in batch]).ids)
        assert size <= budget or len({one.ids for one in batch}) == 1


@pytest.mark.parametrize("layout", ["comb", "packed"])
@pytest.mark.parametrize("chunk", [comb_module.CHUNK, 5])
def test_logprobs_and_entropies_equal_those_of_the_rows(
    loaded: LoadedModel, layout: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comb_module, "CHUNK", chunk)  # 5: every block is longer
    samples = comb_samples()
    rows, packed = collate(samples, "rows"), collate(samples, layout)  # type: ignore[arg-type]
    sampled = rows.loss_BK > 0
    with torch.no_grad():
        for one, other in zip(
            reply_logprobs(loaded.model, rows, 0.7), reply_logprobs(loaded.model, packed, 0.7), strict=True
        ):
            torch.testing.assert_close(other[sampled], one[sampled], rtol=0, atol=1e-5)


def test_the_comb_computes_fewer_tokens() -> None:
    samples = comb_samples()
    rows, packed, comb = (collate(samples, layout).tokens for layout in ("rows", "packed", "comb"))
    assert comb < 0.7 * packed < packed < rows


@pytest.mark.parametrize(("lora_rank", "chunk"), [(0, comb_module.CHUNK), (4, comb_module.CHUNK), (4, 5)])
def test_gradients_equal_those_of_the_rows_whatever_the_micro_batches_and_the_order(
    loaded: LoadedModel, lora_rank: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comb_module, "CHUNK", chunk)
    learner = new_learner(loaded, lora_rank, with_reference=True)
    samples = comb_samples()
    shuffled = random.Random(1).sample(samples, len(samples))

    def gradient(ordered: list[Sample], layout: str, micro_tokens: int) -> torch.Tensor:
        options = UpdateOptions(0.0, kl_beta=0.1, micro_tokens=micro_tokens, layout=layout)  # type: ignore[arg-type]
        learner.update(ordered, options)
        return torch.cat([p.grad.flatten() for p in learner.model.parameters() if p.grad is not None])

    rows = gradient(samples, "rows", 1000)
    assert float(rows.norm()) > 0
    for ordered, layout, micro_tokens in (
        (samples, "comb", 10_000),
        (samples, "comb", 60),
        (shuffled, "comb", 200),
        (samples, "packed", 300),
    ):
        other = gradient(ordered, layout, micro_tokens)
        assert float((other - rows).norm() / rows.norm()) < 1e-5


def test_a_model_whose_attention_would_ignore_the_pattern_is_refused(loaded: LoadedModel) -> None:
    loaded.model.set_attn_implementation("sdpa")
    with pytest.raises(ValueError, match="ignore the pattern"):
        reply_logprobs(loaded.model, collate(comb_samples(), "comb"))
