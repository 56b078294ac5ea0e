"""FlexAttention computes what our own attention computes, on trajectories of a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers
from commands import call
from flex_gaps import flex_gaps

from clickgrad.backends.policies import prompt_builder
from clickgrad.bench.chaos.scenes import sets
from clickgrad.config import load_config
from clickgrad.learn.samples import clone_samples
from clickgrad.policy.attention import use_our_attention
from clickgrad.policy.models import load_tokenizer
from clickgrad.rollout.retell import retell
from clickgrad.rollout.store import TrajectoryFile

TOLERANCE = 1e-4


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_logprobs_and_gradients_on_real_trajectories_are_those_of_our_own_attention(tmp_path: Path) -> None:
    words = ["evaluate", "--config", "quick", "--policy", "scripted:expert", "--run", str(tmp_path / "run")]
    done = call([*words, *sets({"evaluate.limit": 3, "evaluate.pictures": "false"})], tmp_path)
    assert done.returncode == 0, done.stderr
    tokenizer = load_tokenizer("smollm2")
    builder = prompt_builder(load_config("quick", [], "train"), tokenizer)
    stored = TrajectoryFile(tmp_path / "run" / "trajectories" / "evaluate.jsonl.zst").read()
    samples = [sample for trajectory in stored for sample in clone_samples(retell(trajectory, builder))]
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer.inner),
        hidden_size=96,
        intermediate_size=192,
        num_hidden_layers=4,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
    )
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    use_our_attention(model)
    gap, off = flex_gaps(model, samples)
    print(f"{len(samples)} turns: logprobs differ by {gap:.1e} at most, gradients by {off:.1e} relatively")
    assert gap < TOLERANCE
    assert off < TOLERANCE
