from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from full_disk import file_size_limit
from tiny import tiny_model, tiny_tokenizer

from clickgrad.codec import from_plain
from clickgrad.errors import LearnError, UserError
from clickgrad.learn.step import StepFigures, clone_step, make_optimizer
from clickgrad.recipes.progress import SkippedSteps
from clickgrad.types import Sample

GOOD = [Sample((3, 4, 5), 1, (-1.0,), 1.0, 1.0)]
BAD = [Sample((3, 4, 5), 1, (-1.0,), 1.0, float("inf"))]


def test_a_step_that_is_not_finite_changes_nothing_and_three_in_a_row_end_the_run(tmp_path: Path) -> None:
    model = tiny_model(tiny_tokenizer(["some text"])).model
    optimizer = make_optimizer(model, 1e-3)
    skipped = SkippedSteps(tmp_path)

    def step(number: int, samples: list[Sample]) -> bool:
        figures = clone_step(model, optimizer, samples, 1e-3, 100)
        skipped.note(number, samples, figures)
        return figures.skipped

    before = [value.clone() for value in model.parameters()]
    assert step(1, BAD)
    assert step(2, BAD)
    assert all(torch.equal(one, other) for one, other in zip(before, model.parameters(), strict=True))
    assert not step(3, GOOD)
    assert not all(torch.equal(one, other) for one, other in zip(before, model.parameters(), strict=True))
    assert step(4, BAD)
    assert step(5, BAD)
    with pytest.raises(LearnError, match=r"3 steps in a row were not finite.*step-0006\.json"):
        step(6, BAD)
    kept = json.loads((tmp_path / "skipped" / "step-0001.json").read_text())
    assert [from_plain(Sample, one) for one in kept] == BAD


def test_a_batch_that_cannot_be_kept_for_want_of_room_is_one_line(tmp_path: Path) -> None:
    figures = StepFigures(True, float("nan"), 1.0, 0.0, 0.0, 0.0, 0.0, 1, 1, 1)
    with file_size_limit(10), pytest.raises(UserError, match=r"cannot write .*step-0001\.json .*make room"):
        SkippedSteps(tmp_path).note(1, BAD, figures)


def test_a_step_without_samples_changes_nothing() -> None:
    model = tiny_model(tiny_tokenizer(["some text"])).model
    before = [value.clone() for value in model.parameters()]
    figures = clone_step(model, make_optimizer(model, 1e-3), [], 1e-3, 100)
    assert (figures.skipped, figures.loss, figures.entropy, figures.tokens) == (False, 0.0, 0.0, 0)
    assert all(torch.equal(one, other) for one, other in zip(before, model.parameters(), strict=True))
