"""Run by `torchrun` in two processes: three optimizer steps with sharded weights, called by the first; then resumed."""

from __future__ import annotations

import atexit
import json
import sys
from pathlib import Path
from typing import Any

import torch
from tiny import tiny_model, tiny_tokenizer

from clickgrad.codec import from_plain
from clickgrad.learn.checkpoint import step_folder
from clickgrad.learn.learner import LocalLearner, follow
from clickgrad.learn.progress import Lot, Progress, Question
from clickgrad.learn.ranks import Ranks, join_ranks, leave_ranks
from clickgrad.learn.spec import FitOptions, LearnerSpec, Lora, UpdateOptions
from clickgrad.types import Sample

OPTIONS = UpdateOptions(lr=1e-3, kl_beta=0.1, micro_tokens=80)
FIGURES = ("loss", "grad_norm", "entropy", "kl", "clip_share", "tokens")


def new_learner(lora_rank: int, ranks: Ranks, recompute: bool = False) -> LocalLearner:
    loaded = tiny_model(tiny_tokenizer(["some text"]))
    return LocalLearner(loaded, LearnerSpec(lora=Lora(lora_rank, 8), with_reference=True, recompute=recompute), ranks)


def weights(learner: LocalLearner) -> dict[str, torch.Tensor]:
    learner.refresh_sampler()
    # The last layer is the embedding once more.
    merged = {name: value for name, value in learner.merged().items() if name != "lm_head.weight"}
    return {name: value.detach().clone() for name, value in merged.items()}


def train(learner: LocalLearner, samples: list[Sample], folder: Path) -> dict[str, Any]:
    figures = []
    for step in (1, 2, 3):
        (done,) = learner.update(samples, OPTIONS)
        figures.append({name: getattr(done, name) for name in FIGURES})
        learner.save(folder, Progress(step=step), 3, None)
    trained, loss = weights(learner), learner.mean_loss(samples, 80)
    learner.load(step_folder(folder, 2))
    learner.update(samples, OPTIONS)
    resumed = weights(learner)
    lot = Lot(1, tuple(one.ids for one in samples), tuple(float(one.advantage > 0) for one in samples))
    answers = learner.assess(Question((lot,), FitOptions(1e-3, 2), tuple(samples[:2]), micro_tokens=80))
    learner.save_for_sampling(folder / "pushed")
    learner.export(folder / "exported")
    return {"figures": figures, "trained": trained, "loss": loss, "resumed": resumed, "values": answers.values[0]}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    ranks = join_ranks()
    for name, case in json.loads((folder / "cases.json").read_text()).items():
        learner = new_learner(case["lora_rank"], ranks, case["recompute"])
        if ranks.is_first:
            samples = [from_plain(Sample, plain) for plain in case["samples"]]
            torch.save(train(learner, samples, folder / name), folder / name / "result.pt")
            ranks.broadcast(None)
        else:
            follow(learner)
    atexit.register((folder / "teardown").touch)
    leave_ranks()
