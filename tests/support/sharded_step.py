"""Run by `torchrun` in two processes: three optimizer steps with sharded weights, led by the first; then resumed."""

from __future__ import annotations

import atexit
import json
import sys
from pathlib import Path
from typing import Any

import torch
from tiny import tiny_model, tiny_tokenizer

from clickgrad.codec import from_plain
from clickgrad.learn.checkpoint import Progress, step_folder
from clickgrad.learn.crew import Crew, join_crew, leave_crew
from clickgrad.learn.learner import GrpoOptions, LocalLearner, follow
from clickgrad.learn.trainee import Trainee
from clickgrad.types import Sample

OPTIONS = GrpoOptions(
    lr=1e-3, clip=0.2, kl_beta=0.1, temperature=1.0, micro_tokens=80, layout="comb", updates=1, importance_cap=0.0
)
FIGURES = ("loss", "grad_norm", "entropy", "kl", "clip_share", "tokens")


def new_learner(lora_rank: int, crew: Crew, recompute: bool = False) -> LocalLearner:
    loaded = tiny_model(tiny_tokenizer(["some text"]))
    return LocalLearner(Trainee(loaded, lora_rank, 8, seed=0, with_reference=True, recompute=recompute, crew=crew))


def weights(learner: LocalLearner) -> dict[str, torch.Tensor]:
    learner.refresh_sampler()
    return {name: value.detach().clone() for name, value in learner.sampler.model.named_parameters()}


def train(learner: LocalLearner, samples: list[Sample], folder: Path) -> dict[str, Any]:
    figures = []
    for step in (1, 2, 3):
        (done,) = learner.reinforce(samples, OPTIONS)
        figures.append({name: getattr(done, name) for name in FIGURES})
        learner.save(folder, Progress(step=step), 3, None)
    trained, loss = weights(learner), learner.mean_loss(samples, 80)
    learner.load(step_folder(folder, 2))
    learner.reinforce(samples, OPTIONS)
    resumed = weights(learner)
    learner.save_for_sampling(folder / "pushed")
    learner.export(folder / "exported")
    return {"figures": figures, "trained": trained, "loss": loss, "resumed": resumed}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    crew = join_crew()
    for name, case in json.loads((folder / "cases.json").read_text()).items():
        learner = new_learner(case["lora_rank"], crew, case["recompute"])
        if crew.leads:
            samples = [from_plain(Sample, plain) for plain in case["samples"]]
            torch.save(train(learner, samples, folder / name), folder / name / "result.pt")
            crew.tell(None)
        else:
            follow(learner)
    atexit.register((folder / "teardown").touch)
    leave_crew()
