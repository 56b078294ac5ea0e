from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny import tiny_model, tiny_tokenizer

from clickgrad.errors import UserError
from clickgrad.learn import checkpoint
from clickgrad.learn.checkpoint import Progress
from clickgrad.learn.learner import GrpoOptions, LocalLearner
from clickgrad.learn.logprobs import collate, reply_logprobs
from clickgrad.learn.step import StepFigures, clone_step, grpo_step, make_optimizer
from clickgrad.learn.trainee import Trainee
from clickgrad.policy.models import load_model
from clickgrad.types import Sample

SAMPLES = [Sample((7, 8, 9, 10), 2, (0.0, 0.0), 1.0, 1.0), Sample((3, 4, 5), 1, (0.0,), 1.0, 1.0)]


def new_trainee(lora_rank: int) -> Trainee:
    return Trainee(tiny_model(tiny_tokenizer(["some text"])), lora_rank, 8, seed=0, with_reference=True)


def learn(trainee: Trainee, optimizer: torch.optim.Optimizer, steps: int) -> None:
    for _ in range(steps):
        clone_step(trainee.model, optimizer, SAMPLES, 1e-2, 1000)
    trainee.refresh_sampler()


def scores(model: object) -> torch.Tensor:
    with torch.no_grad():
        return reply_logprobs(model, collate(SAMPLES))[0]


@pytest.mark.parametrize("lora_rank", [0, 4])
def test_the_sampler_follows_the_trained_weights_and_the_reference_does_not(lora_rank: int) -> None:
    trainee = new_trainee(lora_rank)
    before = scores(trainee.sampler.model)
    learn(trainee, make_optimizer(trainee.model, 1e-2), 3)
    after = scores(trainee.sampler.model)
    assert float((after - before).abs().max()) > 0.01
    torch.testing.assert_close(after, scores(trainee.model), rtol=0, atol=1e-5)
    torch.testing.assert_close(trainee.reference(collate(SAMPLES)), before, rtol=0, atol=1e-5)


@pytest.mark.parametrize("lora_rank", [0, 4])
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_a_policy_that_has_not_moved_has_no_kl_at_any_temperature(lora_rank: int, temperature: float) -> None:
    trainee = new_trainee(lora_rank)
    optimizer = make_optimizer(trainee.model, 0.0)
    (figures,) = grpo_step(trainee.model, trainee.reference, optimizer, SAMPLES, 0.0, 0.2, 0.1, temperature, 1000)
    assert figures.kl == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("lora_rank", [0, 4])
def test_a_checkpoint_goes_on_bit_for_bit(tmp_path: Path, lora_rank: int) -> None:
    straight = new_trainee(lora_rank)
    learn(straight, make_optimizer(straight.model, 1e-2), 4)

    first = new_trainee(lora_rank)
    optimizer = make_optimizer(first.model, 1e-2)
    learn(first, optimizer, 2)
    checkpoint.save(tmp_path, Progress(step=2, episodes=7), first, optimizer, keep=2)

    second = new_trainee(lora_rank)
    optimizer = make_optimizer(second.model, 1e-2)
    saved = checkpoint.latest(tmp_path)
    assert saved is not None
    assert checkpoint.load(saved, second, optimizer) == Progress(step=2, episodes=7)
    learn(second, optimizer, 2)

    for name, value in straight.weights().items():
        assert torch.equal(value, second.weights()[name]), name
    for name, value in straight.sampler.model.state_dict().items():
        assert torch.equal(value, second.sampler.model.state_dict()[name]), name


def test_old_checkpoints_go_and_half_written_ones_are_not_seen(tmp_path: Path) -> None:
    trainee = new_trainee(0)
    optimizer = make_optimizer(trainee.model, 1e-2)
    for step in (1, 2, 3):
        checkpoint.save(tmp_path, Progress(step=step), trainee, optimizer, keep=2)
    (tmp_path / ".partial-step-0009").mkdir()
    assert sorted(folder.name for folder in tmp_path.glob("step-*")) == ["step-0002", "step-0003"]
    latest = checkpoint.latest(tmp_path)
    assert latest is not None
    assert checkpoint.step_of(latest) == 3


@pytest.mark.parametrize("file", ["weights.safetensors", "optimizer.safetensors", "progress.json"])
@pytest.mark.parametrize("damage", ["missing", "rubbish"])
def test_an_unreadable_checkpoint_is_one_clear_line(tmp_path: Path, file: str, damage: str) -> None:
    trainee = new_trainee(0)
    optimizer = make_optimizer(trainee.model, 1e-2)
    learn(trainee, optimizer, 1)
    checkpoint.save(tmp_path, Progress(step=1), trainee, optimizer, keep=2)
    victim = tmp_path / "step-0001" / file
    if damage == "missing":
        victim.unlink()
    else:
        victim.write_bytes(b"rubbish")
    with pytest.raises(UserError, match=r"step-0001 cannot be read .*: delete it to go on") as caught:
        checkpoint.load(tmp_path / "step-0001", trainee, optimizer)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("lora_rank", [0, 4])
def test_the_export_is_a_plain_transformers_folder(tmp_path: Path, lora_rank: int) -> None:
    trainee = new_trainee(lora_rank)
    learn(trainee, make_optimizer(trainee.model, 1e-2), 2)
    trainee.export(tmp_path / "model")
    loaded = load_model(str(tmp_path / "model"))
    torch.testing.assert_close(scores(loaded.model), scores(trainee.model), rtol=0, atol=1e-5)
    assert loaded.tokenizer.encode("some text") == trainee.sampler.tokenizer.encode("some text")


def test_adapters_of_the_last_layers_leave_the_others_as_they_are() -> None:
    loaded = tiny_model(tiny_tokenizer(["some text"]))
    count = len(loaded.model.get_decoder().layers)
    before = {name: value.clone() for name, value in loaded.model.named_parameters()}
    trainee = Trainee(loaded, 4, 8, seed=0, with_reference=False, lora_layers=1)
    learn(trainee, make_optimizer(trainee.model, 1e-2), 3)
    moved = {name for name, value in trainee.sampler.model.named_parameters() if not torch.equal(value, before[name])}
    assert moved
    assert all(f".layers.{count - 1}." in name for name in moved)
    assert {name for name in before if f".layers.{count - 1}." in name and "_proj" in name} == moved
    with pytest.raises(UserError, match=f"lora.layers={count + 1}: the model has {count} layers"):
        Trainee(loaded, 4, 8, seed=0, with_reference=False, lora_layers=count + 1)


# The tiny model's own logprobs are near -5.6: ratios begin near 1, so that the clip leaves every gradient alone.
LONG = [Sample((*range(1, 60), number), 2, (-5.6, -5.6), 2.0 - number, 1.0) for number in range(1, 4)]
ONCE = GrpoOptions(1e-2, 0.5, 0.1, 1.0, 1000, "comb", 1, 0.0)


def update(
    lora_rank: int, updates: int = 1, recompute: bool = False, autocast: bool = False
) -> tuple[tuple[StepFigures, ...], Trainee, int]:
    """Figures, who was trained, and the bytes that were kept for the way back."""
    loaded = tiny_model(tiny_tokenizer(["some text"]))
    trainee = Trainee(loaded, lora_rank, 8, seed=0, with_reference=True, recompute=recompute, autocast=autocast)
    kept = 0

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal kept
        kept += tensor.numel() * tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        figures = LocalLearner(trainee).reinforce(LONG, replace(ONCE, updates=updates))
    return figures, trainee, kept


def gradient(trainee: Trainee) -> torch.Tensor:
    """Of the last update, all parameters one after the other."""
    return torch.cat([value.grad.flatten() for value in trainee.model.parameters() if value.grad is not None])


def moved(trainee: Trainee, lora_rank: int) -> float:
    """How far the policy's logprobs went from those of the start."""
    return float((scores(trainee.model) - scores(new_trainee(lora_rank).model)).abs().max())


@pytest.mark.parametrize("lora_rank", [0, 4])
def test_recomputation_changes_no_bit_and_keeps_less(lora_rank: int) -> None:
    figures, trainee, kept = update(lora_rank, updates=3)
    again, same, kept_again = update(lora_rank, updates=3, recompute=True)
    assert moved(trainee, lora_rank) > 0.1
    assert again == figures
    assert len({one.loss for one in figures}) == 3
    assert torch.equal(gradient(same), gradient(trainee))
    assert all(torch.equal(same.weights()[name], value) for name, value in trainee.weights().items())
    assert kept_again < kept / 2


@pytest.mark.parametrize("recompute", [False, True])
def test_sampling_from_the_trained_weights_is_as_before_after_an_update(recompute: bool) -> None:
    """Recomputing layers would drop the cache that sampling hands them."""
    loaded = tiny_model(tiny_tokenizer(["some text"]))
    trainee = Trainee(loaded, 0, 8, seed=0, with_reference=False, recompute=recompute)
    assert trainee.sampler.model is trainee.model
    LocalLearner(trainee).clone(SAMPLES, 0.0, 1000, "comb")
    assert not any(module.training for module in trainee.model.modules())


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("lora_rank", [0, 4])
def test_autocast_rounds_products_and_not_weights(lora_rank: int, recompute: bool) -> None:
    """bfloat16 keeps 8 bits, so a gradient is off by about a hundredth of itself, and not by more."""
    (figures,), exact, _ = update(lora_rank)
    (rounded,), trainee, _ = update(lora_rank, autocast=True, recompute=recompute)
    assert moved(trainee, lora_rank) > 0.1
    assert {value.dtype for value in trainee.weights().values()} == {torch.float32}
    assert rounded.clip_share == figures.clip_share == 0
    assert rounded.loss == pytest.approx(figures.loss, abs=0.02)
    assert rounded.grad_norm == pytest.approx(figures.grad_norm, rel=0.05)
    assert figures.grad_norm > 0.1
    off = (gradient(trainee) - gradient(exact)).norm() / gradient(exact).norm()
    assert 1e-4 < float(off) < 0.02


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("lora_rank", [0, 4])
def test_several_updates_under_autocast_are_as_many_single_ones(lora_rank: int, recompute: bool) -> None:
    """Each update must see the weights that the one before it left."""
    figures, together, _ = update(lora_rank, updates=4, autocast=True, recompute=recompute)
    loaded = tiny_model(tiny_tokenizer(["some text"]))
    apart = Trainee(loaded, lora_rank, 8, seed=0, with_reference=True, recompute=recompute, autocast=True)
    learner = LocalLearner(apart)
    losses = [learner.reinforce(LONG, ONCE)[0].loss for _ in range(4)]
    assert [one.loss for one in figures] == losses
    assert len(set(losses)) == 4
    assert all(torch.equal(apart.weights()[name], value) for name, value in together.weights().items())
