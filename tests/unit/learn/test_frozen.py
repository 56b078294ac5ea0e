"""Frozen weights packed once, with adapters beside them: the same function as without, for learner and sampler."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny import make_task, new_learner, tiny_model, tiny_tokenizer

from clickgrad.learn.adapters import with_adapter
from clickgrad.learn.frozen import FrozenLinears
from clickgrad.learn.learner import LocalLearner
from clickgrad.learn.logprobs import collate, reply_logprobs
from clickgrad.learn.spec import Lora
from clickgrad.policy.models import LoadedModel, load_model
from clickgrad.policy.spec import Compute
from clickgrad.policy.torch_engine import TorchEngine
from clickgrad.types import Completion, Observation, Prompt, Sample, Sampling

SAMPLES = [Sample((*range(20, 50), number), 3, (0.0, 0.0, 0.0), 1.0, 1.0) for number in (7, 8, 9)]
PROMPT = tuple(range(20, 60))


def new_model(compute: Compute = "float32", biased: bool = False) -> LoadedModel:
    loaded = tiny_model(tiny_tokenizer(["some text"]))
    if biased:  # as Qwen's queries, keys and values are
        for layer in loaded.model.get_decoder().layers:
            layer.self_attn.q_proj.bias = torch.nn.Parameter(torch.linspace(-1, 1, layer.self_attn.q_proj.out_features))
    return replace(loaded, compute=compute)


def adapted(loaded: LoadedModel, layers: int = 0) -> object:
    model = with_adapter(loaded.model, Lora(4, 8, layers), seed=0)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "lora_B" in name:  # they begin as zeros, which hide half of the gradient
                value.copy_(torch.randn(value.shape, generator=torch.Generator().manual_seed(1)) * 0.05)
    return model


def scores_and_gradients(model: object) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    logprobs, _ = reply_logprobs(model, collate(SAMPLES, "comb"))
    (logprobs * torch.tensor([1.0, -2.0, 0.5])[:, None]).sum().backward()  # type: ignore[no-untyped-call]
    found = {name: one.grad for name, one in model.named_parameters() if one.grad is not None}  # type: ignore[attr-defined]
    return logprobs.detach(), found


@pytest.mark.parametrize(("biased", "layers"), [(False, 0), (True, 0), (False, 1)])
def test_packed_products_give_the_logprobs_and_gradients_of_plain_ones(biased: bool, layers: int) -> None:
    plain = scores_and_gradients(adapted(new_model(biased=biased), layers))
    model = adapted(new_model(biased=biased), layers)
    FrozenLinears(model, "float32")
    packed = scores_and_gradients(model)
    torch.testing.assert_close(packed[0], plain[0], rtol=0, atol=1e-5)
    assert packed[1].keys() == plain[1].keys()
    for name, gradient in plain[1].items():
        torch.testing.assert_close(packed[1][name], gradient, rtol=1e-3, atol=1e-5, msg=name)


@pytest.mark.parametrize("layers", [0, 1])
def test_rounded_products_give_almost_those(layers: int) -> None:
    plain = scores_and_gradients(adapted(new_model(), layers))
    model = adapted(new_model(), layers)
    FrozenLinears(model, "bfloat16")
    rounded = scores_and_gradients(model)
    assert 1e-5 < float((rounded[0] - plain[0]).abs().max()) < 0.05
    exact, near = (torch.cat([one.flatten() for one in found.values()]) for found in (plain[1], rounded[1]))
    assert {one.dtype for one in rounded[1].values()} == {torch.float32}
    assert 1e-4 < float((near - exact).norm() / exact.norm()) < 0.03


def test_no_plain_copy_is_kept_beside_an_exact_one_and_released_layers_have_theirs_again() -> None:
    model, before = adapted(new_model()), adapted(new_model()).state_dict()  # type: ignore[attr-defined]
    frozen = FrozenLinears(model, "float32")
    layer = model.get_decoder().layers[0].mlp.up_proj  # type: ignore[attr-defined]
    assert layer.base_layer.weight.numel() == 0
    frozen.release()
    assert not any("forward" in vars(module) for module in model.modules())  # type: ignore[attr-defined]
    after = model.state_dict()  # type: ignore[attr-defined]
    assert all(torch.equal(after[name], value) for name, value in before.items())


def test_a_model_in_bfloat16_learns_and_is_exported_with_its_small_changes(tmp_path: Path) -> None:
    loaded = new_model("bfloat16")
    start = {name: value.clone() for name, value in loaded.model.bfloat16().state_dict().items()}
    learner = new_learner(loaded, 4)
    learner.clone(SAMPLES, 1e-5, 1000, "comb")
    assert {value.dtype for value in learner.weights().values()} == {torch.float32}
    learner.export(tmp_path / "model")
    exported = load_model(str(tmp_path / "model")).model.state_dict()
    name = "model.layers.0.mlp.up_proj.weight"
    changed = (exported[name] != start[name].float()).float().mean()
    if_rounded = (exported[name].bfloat16() != start[name]).float().mean()
    assert float(changed) > 0.9
    assert float(if_rounded) < 0.5  # most of the changes would have been lost


def ask(learner: LocalLearner, learn: bool) -> list[Completion]:
    """Before and after a step, from the same engine."""
    engine = TorchEngine(learner.sampler)
    prompt = Prompt("e", make_task(), Observation("http://toy/", "", (), ()), (), PROMPT)
    replies = [asyncio.run(engine.complete(prompt, Sampling(8, seed=3)))]
    if learn:
        learner.clone(SAMPLES, 1e-2, 1000, "comb")
    engine.swap_weights(learner.refresh_sampler, 1)
    replies.append(asyncio.run(engine.complete(prompt, Sampling(8, seed=3))))
    engine.close()
    return replies


def trainers_own(learner: LocalLearner, reply: Completion) -> torch.Tensor:
    sample = Sample((*PROMPT, *reply.ids), len(reply.ids), reply.logprobs, 1.0, 1.0)
    with torch.no_grad():
        return reply_logprobs(learner.model, collate([sample], "comb"))[0][0]


@pytest.mark.parametrize("compute", ["float32", "bfloat16"])
def test_sampler_and_learner_share_one_copy_and_agree_after_a_step(compute: Compute) -> None:
    learner = new_learner(new_model(compute), 4)
    weights = {one.data_ptr() for one in learner.sampler.model.parameters()}
    assert weights == {one.data_ptr() for one in learner.model.parameters()}
    before, after = ask(learner, learn=True)
    assert (before.policy_version, after.policy_version) == (0, 1)
    assert before.logprobs != after.logprobs
    off = (trainers_own(learner, after) - torch.tensor(after.logprobs)).abs().max()
    assert float(off) < (1e-4 if compute == "float32" else 0.05)


def gain(compute: Compute) -> float:
    """By how much three small steps of cloning raise the logprobs of what is cloned."""
    learner, batch = new_learner(new_model(compute), 4), collate(SAMPLES, "comb")
    for _ in range(3):
        learner.clone(SAMPLES, 1e-4, 1000, "comb")
    with torch.no_grad():
        return float((reply_logprobs(learner.model, batch)[0] - learner.reference(batch)).sum())


def test_steps_too_small_for_a_rounded_weight_still_move_the_rounded_policy() -> None:
    """Weights of 0.1 in bfloat16 are 0.0005 apart: added to them, most of such an adapter would be lost."""
    assert gain("bfloat16") == pytest.approx(gain("float32"), rel=0.2)
    assert gain("float32") > 0.01


def test_a_sampler_in_int8_has_weights_of_its_own() -> None:
    learner = new_learner(new_model("int8"), 4)
    assert learner.sampler.model is not learner.model
    before, after = ask(learner, learn=True)
    assert before.logprobs != after.logprobs
