"""The value head: what it stands on, what it learns, and that a checkpoint holds all of it."""

from __future__ import annotations

from math import e
from pathlib import Path

import pytest
import torch
from tiny import new_learner, tiny_model, tiny_tokenizer

from clickgrad.learn import checkpoint
from clickgrad.learn.learner import LocalLearner
from clickgrad.learn.progress import Answers, Lot, Progress, Question
from clickgrad.learn.spec import FitOptions, UpdateOptions
from clickgrad.learn.values import ValueHead, prompt_states
from clickgrad.types import Sample

GOOD, BAD = (7, 8, 9), (7, 8, 5, 6)
LOTS = (Lot(1, (GOOD, BAD, GOOD), (1.0, 0.0, 1.0)), Lot(2, (BAD, GOOD), (0.0, 1.0)))
QUESTION = Question(LOTS, FitOptions(3e-3, 8))
SAMPLES = [Sample((7, 8, 9, 10), 2, (-1.0, -1.0), 1.0, 1.0), Sample((3, 4, 5), 1, (-1.0,), 1.0, 1.0)]


def fresh(rank: int) -> LocalLearner:
    return new_learner(tiny_model(tiny_tokenizer(["some text"])), rank, with_reference=True)


def learn(learner: LocalLearner) -> Answers:
    """A phase: values are fitted and then the policy moves."""
    answers = learner.assess(QUESTION)
    learner.update(SAMPLES, UpdateOptions(1e-2, form="likelihood"))
    return answers


def test_the_state_is_the_one_at_the_prompts_last_token_whatever_is_packed_beside_it() -> None:
    model = tiny_model(tiny_tokenizer(["some text"])).model
    with torch.no_grad():
        whole = model(input_ids=torch.tensor([BAD]), output_hidden_states=True).hidden_states[-1][0, -1]
    for prompts in ([BAD], [GOOD, BAD, (7, 8), BAD]):
        found = prompt_states(model, prompts, 2048)[prompts.index(BAD)]
        torch.testing.assert_close(found, whole, rtol=0, atol=1e-5)


def test_the_smaller_of_two_chances_counts() -> None:
    """Logits 1 and -1 whatever the state: 1 / (1 + e)."""
    tensors = ValueHead(3, 0).tensors() | {"0.2.bias": torch.tensor([1.0]), "1.2.bias": torch.tensor([-1.0])}
    assert ValueHead.of(tensors).values(torch.zeros(2, 3)).tolist() == pytest.approx([1 / (1 + e)] * 2)


def test_what_states_have_in_common_hides_nothing_of_what_differs() -> None:
    """All numbers are 100, and one of them is 100.01 in every other state."""
    states, outcomes = torch.full((64, 8), 100.0), torch.zeros(64)
    states[::2, 3] += 0.01
    outcomes[::2] = 1.0
    head = ValueHead(8, 0)
    head.fit(states, outcomes, FitOptions(1e-2, 60), seed=1)
    assert head.values(states)[0] > 0.8 > 0.2 > head.values(states)[1]


@pytest.mark.parametrize("rank", [0, 4])
def test_it_learns_what_came_of_states_and_they_stay_when_the_policy_moves(rank: int) -> None:
    learner = fresh(rank)
    first = learn(learner)
    assert len(first.foreseen) == 2
    assert max(abs(value - 0.5) for value in first.foreseen) < 0.3, "nothing was known"
    for _ in range(10):
        last = learn(learner)
    assert last.values[0][0] > 0.8 > 0.2 > last.values[0][1]
    assert last.values[0][0] == last.values[0][2], "one state, one value"
    again, unmoved = fresh(rank)._states_of(QUESTION), learner._states_of(QUESTION)
    learner._states.clear()
    for one, other, moved in zip(again, unmoved, learner._states_of(QUESTION), strict=True):
        assert torch.equal(one, other)
        torch.testing.assert_close(other, moved, rtol=0, atol=1e-5)


@pytest.mark.parametrize("rank", [0, 4])
def test_a_checkpoint_goes_on_bit_for_bit_with_its_head(tmp_path: Path, rank: int) -> None:
    straight = fresh(rank)
    expected = [learn(straight) for _ in range(4)]

    first = fresh(rank)
    for _ in range(2):
        learn(first)
    first.save(tmp_path, Progress(step=2), 1, None)
    second = fresh(rank)
    second.load(checkpoint.step_folder(tmp_path, 2))
    assert [learn(second) for _ in range(2)] == expected[2:]
    for name, value in straight.weights().items():
        assert torch.equal(value, second.weights()[name]), name


def test_a_checkpoint_without_a_head_is_read_and_none_is_written_where_nobody_asked(tmp_path: Path) -> None:
    learner = fresh(0)
    learner.save(tmp_path, Progress(step=1), 1, None)
    folder = checkpoint.step_folder(tmp_path, 1)
    assert not (folder / checkpoint.VALUES).exists()
    asked = fresh(0)
    asked.assess(QUESTION)
    asked.load(folder)
    assert asked.assess(QUESTION) == learner.assess(QUESTION), "the head of another run is gone"


def test_turns_are_scored_by_the_policy_of_now() -> None:
    learner = fresh(4)
    before = learner.assess(Question(scored=tuple(SAMPLES))).scored
    learner.update(SAMPLES, UpdateOptions(1e-2, form="likelihood"))
    after = learner.assess(Question(scored=tuple(SAMPLES))).scored
    assert [(one.ids, one.reply_len) for one in after] == [(one.ids, one.reply_len) for one in SAMPLES]
    assert sum(map(sum, (one.logprobs for one in after))) > sum(map(sum, (one.logprobs for one in before)))
