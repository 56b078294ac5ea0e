"""Products in other types: which is chosen, and how far what is sampled from them is off."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import torch
from tiny import make_task, tiny_model, tiny_tokenizer

from clickgrad.policy.models import LoadedModel
from clickgrad.policy.packed import WORTH_IT, PackedLinears, fastest
from clickgrad.policy.torch_engine import TorchEngine
from clickgrad.types import Completion, Observation, Prompt, Sampling

IDS = tuple(range(20, 60))


def new_model() -> LoadedModel:
    return tiny_model(tiny_tokenizer(["some text"]))


def ask(loaded: LoadedModel) -> Completion:
    engine = TorchEngine(replace(loaded, compute="bfloat16"))
    prompt = Prompt("e", make_task(), Observation("http://toy/", "", (), ()), (), IDS)
    try:
        return asyncio.run(engine.complete(prompt, Sampling(30, seed=3)))
    finally:
        engine.close()


def test_bfloat16_samples_from_nearly_the_same_policy_and_tells_its_own_logprobs() -> None:
    loaded = new_model()
    reply = ask(loaded)
    with torch.no_grad():
        logits = loaded.model(torch.tensor([[*IDS, *reply.ids]])).logits[0, len(IDS) - 1 : -1]
    exact = torch.log_softmax(logits, -1).gather(1, torch.tensor(reply.ids)[:, None])[:, 0]
    off = (exact - torch.tensor(reply.logprobs)).abs().max()
    assert 1e-6 < float(off) < 0.05


def test_the_last_layer_is_never_rounded() -> None:
    model = new_model().model
    packed = PackedLinears(model, "bfloat16")
    hidden = torch.randn(3, model.config.hidden_size)
    with torch.inference_mode():
        logits = model.get_output_embeddings()(hidden)
        rounded = model.get_decoder().layers[0].mlp.up_proj(hidden).float()
    packed.release()
    assert torch.allclose(logits, hidden @ model.get_output_embeddings().weight.T, atol=1e-5)
    assert not torch.allclose(rounded, hidden @ model.get_decoder().layers[0].mlp.up_proj.weight.T, atol=1e-5)


def test_the_choice_is_measured_and_says_what_it_gains() -> None:
    choice = fastest()
    assert choice.compute in ("float32", "bfloat16")
    assert choice.gain == 1.0 if choice.compute == "float32" else choice.gain >= WORTH_IT


def test_measuring_which_type_is_fast_leaves_the_threads_as_they_were() -> None:
    before = torch.get_num_threads()
    fastest.cache_clear()
    assert fastest().gain >= 1.0
    assert torch.get_num_threads() == before
