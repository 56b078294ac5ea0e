"""Run as a program: kills itself while a checkpoint is on its way to the disk."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import torch
from tiny import new_learner, tiny_tokenizer
from transformers import AutoModelForCausalLM, LlamaConfig

from clickgrad.learn.progress import Progress
from clickgrad.policy.models import LoadedModel
from clickgrad.types import Sample

SAMPLE = Sample((7, 8, 9, 10), 2, (0.0, 0.0), 1.0, 1.0)


def main(root: Path) -> None:
    """So many weights that they are not written in a moment."""
    torch.set_num_threads(1)
    config = LlamaConfig(
        hidden_size=64, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, vocab_size=200_000
    )
    model = AutoModelForCausalLM.from_config(config).eval()
    learner = new_learner(LoadedModel("wide", model, tiny_tokenizer(["text"])), save_async=True)
    learner.save(root, Progress(step=1), 2, None)
    learner.finish_saving()
    learner.clone([SAMPLE], 1e-2, 1000, "rows")
    learner.save(root, Progress(step=2), 2, None)
    while not (root / ".partial-step-0002" / "weights.safetensors").exists():
        pass
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
