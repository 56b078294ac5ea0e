from __future__ import annotations

from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import transformers
from tiny import new_learner, tiny_model, tiny_tokenizer

from clickgrad.backends.engines import open_engine, refuse_useless
from clickgrad.config import load_config
from clickgrad.errors import UserError
from clickgrad.learn.learner import LocalLearner

SERVER = "reinforce.servers=['http://127.0.0.1:1']"


def make_learner(rank: int) -> LocalLearner:
    learner = new_learner(tiny_model(tiny_tokenizer(["some text"])), rank)
    with torch.no_grad():
        for weight in learner.model.parameters():
            if weight.requires_grad:
                weight.add_(torch.randn_like(weight) * 0.1)
    return learner


def logits(model: Any) -> torch.Tensor:
    with torch.no_grad():
        return model(input_ids=torch.arange(10, 30)[None]).logits  # type: ignore[no-any-return]


@pytest.mark.parametrize("rank", [0, 4])
def test_what_is_saved_for_a_sampler_makes_the_same_policy_elsewhere(rank: int, tmp_path: Path) -> None:
    learner = make_learner(rank)
    learner.save_for_sampling(tmp_path)
    if rank:
        elsewhere = peft.PeftModel.from_pretrained(tiny_model(tiny_tokenizer(["some text"])).model, tmp_path)
    else:
        elsewhere = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    torch.testing.assert_close(logits(elsewhere), logits(learner.model))


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (["reinforce.engine=sglang"], "reinforce.engine='sglang': known are torch, vllm"),
        ([SERVER], "do nothing without reinforce.engine"),
        (["reinforce.vllm_options=['--seed']"], "do nothing without reinforce.engine"),
        (["reinforce.engine=vllm", SERVER, "reinforce.vllm_options=['--seed']"], "leave out reinforce.servers"),
        (["model.compute='int8'", "reinforce.engine='vllm'"], "does nothing without reinforce.engine = 'torch'"),
        (["reinforce.engine=vllm", SERVER, "cluster.address=local"], "leave the servers out"),
    ],
)
def test_options_that_would_do_nothing_are_refused(settings: list[str], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        refuse_useless(load_config(None, settings, "reinforce"))


def test_servers_that_are_not_there_are_refused(tmp_path: Path) -> None:
    config = load_config(None, ["reinforce.engine=vllm", SERVER], "reinforce")
    with pytest.raises(UserError, match="no vLLM server to work with"), open_engine(config, make_learner(0), tmp_path):
        pass
