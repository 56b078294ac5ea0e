"""The presets for GPUs say what the paper says (METHOD: stages 1 and 2)."""

from __future__ import annotations

import pytest

from clickgrad.config import load_config

MODELS = {"qwen2.5-3b": "Qwen/Qwen2.5-3B-Instruct", "llama3.1-8b": "meta-llama/Llama-3.1-8B-Instruct"}


@pytest.mark.parametrize("preset", MODELS)
def test_the_papers_settings_are_those_of_the_paper(preset: str) -> None:
    config = load_config(preset, [], "train")
    assert (config.model.path, config.tasks.suite) == (MODELS[preset], "webarena-lite")
    assert (config.clone.lr, config.clone.batch, config.clone.warmup) == (5e-5, 128, 0.05)
    learning = config.reinforce
    assert (learning.lr, learning.groups, learning.group_size, learning.steps) == (1e-6, 16, 4, 40)
    assert (learning.clip, learning.kl_beta, learning.temperature) == (0.2, 0.001, 1.0)
    assert (learning.normalizer, learning.updates, learning.max_staleness) == ("paper", 1, 0)
    assert (config.model.context_tokens, config.agent.max_new_tokens, config.agent.max_turns) == (16_384, 1_024, 15)
    assert (config.agent.reply_format, config.lora.rank) == ("thinking", 0)


@pytest.mark.parametrize("preset", [*MODELS, "study-paper"])
def test_presets_for_gpus_sample_with_vllm_and_round_alike(preset: str) -> None:
    config = load_config(preset, [], "study start" if preset == "study-paper" else "train")
    assert (config.reinforce.engine, config.evaluate.engine) == ("vllm", "vllm")
    assert (config.model.compute, config.learner.recompute) == ("bfloat16", True)
    assert (config.reinforce.importance_cap, config.model.context_tokens) == (2.0, 16_384)
