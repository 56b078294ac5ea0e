"""One step of GRPO with a tiny model of random weights: it calls no tool, so its rewards are those of doing nothing."""

from __future__ import annotations

import json
from importlib.resources import files

from openenv_trl import trainer
from play_openenv import servers, url_of
from transformers import Qwen3Config, Qwen3ForCausalLM

from clickgrad.policy.models import load_tokenizer

tokenizer = load_tokenizer("smollm2").inner
tokenizer.chat_template = (files("trl") / "chat_templates" / "qwen3.jinja").read_text()  # one that TRL knows tools of
small = Qwen3Config(
    vocab_size=len(tokenizer),
    hidden_size=32,
    intermediate_size=32,
    num_hidden_layers=1,
    num_attention_heads=2,
    num_key_value_heads=1,
    head_dim=16,
)
options = {
    "max_steps": 1,
    "num_generations": 2,
    "per_device_train_batch_size": 2,
    "max_completion_length": 24,
    "use_cpu": True,
    "report_to": "none",
    "save_strategy": "no",
}
with servers:
    made = trainer(Qwen3ForCausalLM(small), url_of("pocket", "train"), tokenizer, **options)
    made.train()
    rewards = [environment.get_reward() for environment in made.environments]
    del made
print(json.dumps({"rewards": rewards}))
