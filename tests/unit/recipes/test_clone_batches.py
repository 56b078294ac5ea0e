from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tiny import save, tiny_model, tiny_tokenizer

from clickgrad.config import CloneSection, Config, ModelSection
from clickgrad.errors import UserError
from clickgrad.recipes.clone import clone, has_stalled, make_batches


def config(**options: object) -> Config:
    return Config(clone=CloneSection.model_validate(options))


def test_steps_are_filled_with_whole_demonstrations() -> None:
    turns = [2, 3, 1, 4, 2]
    batches = make_batches(config(batch=4, epochs=2), turns)
    for epoch in range(2):
        ends = sorted(batches.epoch_ends)
        steps = batches.steps[(ends[0] if epoch else 0) : ends[epoch]]
        assert sorted(index for step in steps for index in step) == [0, 1, 2, 3, 4]
        for step in steps[:-1]:
            assert sum(turns[index] for index in step) >= 4
            assert sum(turns[index] for index in step[:-1]) < 4
    assert batches.held_out == []


def test_what_is_held_out_is_never_learned() -> None:
    batches = make_batches(config(batch=4, epochs=3, held_out=0.3), [2] * 10)
    assert len(batches.held_out) == 3
    assert not set(batches.held_out) & {index for step in batches.steps for index in step}
    assert batches == make_batches(config(batch=4, epochs=3, held_out=0.3), [2] * 10)


def test_a_loss_that_no_longer_falls_is_a_stall() -> None:
    assert not has_stalled([], 2)
    assert not has_stalled([3.0, 2.0], 2)
    assert not has_stalled([2.0, 2.1], 2)
    assert has_stalled([2.0, 2.1, 2.05], 2)
    assert not has_stalled([2.0, 2.1, 1.9], 2)
    assert not has_stalled([2.0, 2.1, 2.2, 2.3], 0)


def test_a_model_that_cannot_be_loaded_is_said_before_anything_is_recorded(tmp_path: Path) -> None:
    folder = save(tiny_model(tiny_tokenizer(["some text"])), tmp_path / "model")
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(UserError, match="cannot be loaded"):
        asyncio.run(clone(Config(model=ModelSection(path=str(folder))), tmp_path / "run"))
    assert not (tmp_path / "run").exists()
