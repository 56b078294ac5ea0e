"""Run by `torchrun` in two processes: three optimizer steps with sharded weights, then the whole weights are saved."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from tiny import tiny_model, tiny_tokenizer

from clickgrad.codec import from_plain
from clickgrad.learn.crew import Crew, shard, whole
from clickgrad.learn.step import grpo_step, make_optimizer
from clickgrad.types import Sample


def train(samples: list[Sample], crew: Crew) -> tuple[dict[str, torch.Tensor], list[dict[str, float]]]:
    model = tiny_model(tiny_tokenizer(["some text"])).model
    if crew.size > 1:
        shard(model, crew)
    optimizer = make_optimizer(model, 1e-3)
    figures = []
    for _ in range(3):
        (step,) = grpo_step(model, None, optimizer, samples, 1e-3, 0.2, 0.0, 1.0, 80, crew=crew)
        figures.append({name: getattr(step, name) for name in ("loss", "grad_norm", "entropy", "clip_share")})
    return {name: whole(value.detach()).clone() for name, value in model.named_parameters()}, figures


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    samples = [from_plain(Sample, plain) for plain in json.loads(source.read_text())]
    weights, figures = train(samples, Crew(torch.distributed.get_rank(), torch.distributed.get_world_size()))
    if torch.distributed.get_rank() == 0:
        torch.save({"weights": weights, "figures": figures}, target)
    torch.distributed.destroy_process_group()
