from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny import new_learner, tiny_model, tiny_tokenizer

from clickgrad.errors import UserError
from clickgrad.learn import checkpoint
from clickgrad.learn.learner import LocalLearner
from clickgrad.learn.logprobs import collate, reply_logprobs
from clickgrad.learn.progress import Progress
from clickgrad.learn.spec import UpdateOptions
from clickgrad.learn.step import StepFigures
from clickgrad.policy.models import load_model
from clickgrad.policy.spec import Compute
from clickgrad.types import Sample

SAMPLES = [Sample((7, 8, 9, 10), 2, (0.0, 0.0), 1.0, 1.0), Sample((3, 4, 5), 1, (0.0,), 1.0, 1.0)]


def fresh(lora_rank: int) -> LocalLearner:
    return new_learner(tiny_model(tiny_tokenizer(["some text"])), lora_rank, with_reference=True)


def learn(learner: LocalLearner, steps: int) -> None:
    for _ in range(steps):
        learner.clone(SAMPLES, 1e-2, 1000, "comb")
    learner.refresh_sampler()


def scores(model: object) -> torch.Tensor:
    with torch.no_grad():
        return reply_logprobs(model, collate(SAMPLES))[0]


@pytest.mark.parametrize("lora_rank", [0, 4])
def test_the_sampler_follows_the_trained_weights_and_the_reference_does_not(lora_rank: int) -> None:
    learner = fresh(lora_rank)
    before = scores(learner.sampler.model)
    learn(learner, 3)
    after = scores(learner.sampler.model)
    assert float((after - before).abs().max()) > 0.01
    torch.testing.assert_close(after, scores(learner.model), rtol=0, atol=1e-5)
    torch.testing.assert_close(learner.reference(collate(SAMPLES)), before, rtol=0, atol=1e-5)


@pytest.mark.parametrize("lora_rank", [0, 4])
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_a_policy_that_has_not_moved_has_no_kl_at_any_temperature(lora_rank: int, temperature: float) -> None:
    options = UpdateOptions(0.0, kl_beta=0.1, temperature=temperature, micro_tokens=1000)
    (figures,) = fresh(lora_rank).update(SAMPLES, options)
    assert figures.kl == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("lora_rank", [0, 4])
def test_a_checkpoint_goes_on_bit_for_bit(tmp_path: Path, lora_rank: int) -> None:
    straight = fresh(lora_rank)
    learn(straight, 4)

    first = fresh(lora_rank)
    learn(first, 2)
    first.save(tmp_path, Progress(step=2, episodes=7), 2, None)

    second = fresh(lora_rank)
    saved = checkpoint.latest(tmp_path)
    assert saved is not None
    assert second.load(saved) == Progress(step=2, episodes=7)
    learn(second, 2)

    for name, value in straight.weights().items():
        assert torch.equal(value, second.weights()[name]), name
    for name, value in straight.merged().items():
        assert torch.equal(value, second.merged()[name]), name


def test_old_checkpoints_go_and_half_written_ones_are_not_seen(tmp_path: Path) -> None:
    learner = fresh(0)
    for step in (1, 2, 3):
        learner.save(tmp_path, Progress(step=step), 2, None)
    (tmp_path / ".partial-step-0009").mkdir()
    assert sorted(folder.name for folder in tmp_path.glob("step-*")) == ["step-0002", "step-0003"]
    latest = checkpoint.latest(tmp_path)
    assert latest is not None
    assert checkpoint.step_of(latest) == 3


@pytest.mark.parametrize("file", ["weights.safetensors", "optimizer.safetensors", "progress.json"])
@pytest.mark.parametrize("damage", ["missing", "rubbish"])
def test_an_unreadable_checkpoint_is_one_clear_line(tmp_path: Path, file: str, damage: str) -> None:
    learner = fresh(0)
    learn(learner, 1)
    learner.save(tmp_path, Progress(step=1), 2, None)
    victim = tmp_path / "step-0001" / file
    if damage == "missing":
        victim.unlink()
    else:
        victim.write_bytes(b"rubbish")
    with pytest.raises(UserError, match=r"step-0001 cannot be read .*: delete it to go on") as caught:
        learner.load(tmp_path / "step-0001")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("lora_rank", [0, 4])
def test_the_export_is_a_plain_transformers_folder(tmp_path: Path, lora_rank: int) -> None:
    learner = fresh(lora_rank)
    learn(learner, 2)
    learner.export(tmp_path / "model")
    loaded = load_model(str(tmp_path / "model"))
    torch.testing.assert_close(scores(loaded.model), scores(learner.model), rtol=0, atol=1e-5)
    assert loaded.tokenizer.encode("some text") == learner.sampler.tokenizer.encode("some text")


def test_adapters_of_the_last_layers_leave_the_others_as_they_are() -> None:
    loaded = tiny_model(tiny_tokenizer(["some text"]))
    count = len(loaded.model.get_decoder().layers)
    before = {name: value.clone() for name, value in loaded.model.named_parameters()}
    learner = new_learner(loaded, 4, layers=1)
    learn(learner, 3)
    moved = {
        name for name, value in learner.merged().items() if name in before and not torch.equal(value, before[name])
    }
    assert moved
    assert all(f".layers.{count - 1}." in name for name in moved)
    assert {name for name in before if f".layers.{count - 1}." in name and "_proj" in name} == moved
    with pytest.raises(UserError, match=f"lora.layers={count + 1}: the model has {count} layers"):
        new_learner(loaded, 4, layers=count + 1)


# The tiny model's own logprobs are near -5.6: ratios begin near 1, so that the clip leaves every gradient alone.
LONG = [Sample((*range(1, 60), number), 2, (-5.6, -5.6), 2.0 - number, 1.0) for number in range(1, 4)]
ONCE = UpdateOptions(1e-2, clip=0.5, kl_beta=0.1, micro_tokens=1000)


def update(
    lora_rank: int, updates: int = 1, recompute: bool = False, compute: Compute = "float32"
) -> tuple[tuple[StepFigures, ...], LocalLearner, int]:
    """Figures, who was trained, and the bytes that were kept for the way back."""
    loaded = replace(tiny_model(tiny_tokenizer(["some text"])), compute=compute)
    learner = new_learner(loaded, lora_rank, with_reference=True, recompute=recompute)
    kept = 0

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal kept
        kept += tensor.numel() * tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        figures = learner.update(LONG, replace(ONCE, updates=updates))
    return figures, learner, kept


def gradient(learner: LocalLearner) -> torch.Tensor:
    """Of the last update, all parameters one after the other."""
    return torch.cat([value.grad.flatten() for value in learner.model.parameters() if value.grad is not None])


def moved(learner: LocalLearner, lora_rank: int) -> float:
    """How far the policy's logprobs went from those of the start."""
    return float((scores(learner.model) - scores(fresh(lora_rank).model)).abs().max())


@pytest.mark.parametrize("lora_rank", [0, 4])
def test_recomputation_changes_no_bit_and_keeps_less(lora_rank: int) -> None:
    figures, learner, kept = update(lora_rank, updates=3)
    again, same, kept_again = update(lora_rank, updates=3, recompute=True)
    assert moved(learner, lora_rank) > 0.1
    assert again == figures
    assert len({one.loss for one in figures}) == 3
    assert torch.equal(gradient(same), gradient(learner))
    assert all(torch.equal(same.weights()[name], value) for name, value in learner.weights().items())
    assert kept_again < kept / 2


@pytest.mark.parametrize("recompute", [False, True])
def test_sampling_from_the_trained_weights_is_as_before_after_an_update(recompute: bool) -> None:
    """Recomputing layers would drop the cache that sampling hands them."""
    loaded = tiny_model(tiny_tokenizer(["some text"]))
    learner = new_learner(loaded, recompute=recompute)
    assert learner.sampler.model is learner.model
    learner.clone(SAMPLES, 0.0, 1000, "comb")
    assert not any(module.training for module in learner.model.modules())


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("lora_rank", [0, 4])
def test_bfloat16_rounds_products_and_not_weights(lora_rank: int, recompute: bool) -> None:
    """bfloat16 keeps 8 bits, so a gradient is off by about a hundredth of itself, and not by more."""
    (figures,), exact, _ = update(lora_rank)
    (rounded,), learner, _ = update(lora_rank, compute="bfloat16", recompute=recompute)
    assert moved(learner, lora_rank) > 0.1
    assert {value.dtype for value in learner.weights().values()} == {torch.float32}
    assert rounded.clip_share == figures.clip_share == 0
    assert rounded.loss == pytest.approx(figures.loss, abs=0.02)
    assert rounded.grad_norm == pytest.approx(figures.grad_norm, rel=0.05)
    assert figures.grad_norm > 0.1
    off = (gradient(learner) - gradient(exact)).norm() / gradient(exact).norm()
    assert 1e-4 < float(off) < 0.02


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("lora_rank", [0, 4])
def test_several_updates_in_bfloat16_are_as_many_single_ones(lora_rank: int, recompute: bool) -> None:
    """Each update must see the weights that the one before it left."""
    figures, together, _ = update(lora_rank, updates=4, compute="bfloat16", recompute=recompute)
    loaded = replace(tiny_model(tiny_tokenizer(["some text"])), compute="bfloat16")
    apart = new_learner(loaded, lora_rank, with_reference=True, recompute=recompute)
    losses = [apart.update(LONG, ONCE)[0].loss for _ in range(4)]
    assert [one.loss for one in figures] == losses
    assert len(set(losses)) == 4
    assert all(torch.equal(apart.weights()[name], value) for name, value in together.weights().items())
