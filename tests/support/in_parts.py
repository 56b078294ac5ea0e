"""Run by `torchrun`: a model of which every rank reads its own part, trained, saved, pushed and exported, or loaded."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from live_bytes import LiveBytes
from sharded_step import OPTIONS

from clickgrad.backends.learners import build_learner
from clickgrad.codec import from_plain
from clickgrad.learn.checkpoint import step_folder
from clickgrad.learn.learner import LocalLearner, follow
from clickgrad.learn.progress import Progress
from clickgrad.learn.ranks import Ranks, join_ranks, leave_ranks
from clickgrad.learn.spec import LearnerSpec
from clickgrad.policy.spec import Compute, ModelSpec
from clickgrad.types import Sample


def learner_in_parts(model: Path, ranks: Ranks, compute: Compute = "float32", save_async: bool = False) -> LocalLearner:
    source = ModelSpec(str(model), compute=compute)
    spec = LearnerSpec(source, with_reference=True, samples_here=False, recompute=True, save_async=save_async)
    return build_learner(spec, ranks)


def teach(learner: LocalLearner, samples: list[Sample]) -> list[float]:
    """One step of M-GRPO and one of cloning; the losses."""
    (updated,) = learner.update(samples, OPTIONS)
    return [updated.loss, learner.clone(samples, 1e-3, 80, "comb").loss]


def save_beside(learner: LocalLearner, folder: Path, samples: list[Sample], name: str) -> None:
    """The checkpoint of `four` once more, while training goes on; then another one."""
    learner.load(step_folder(folder / "four", 1))
    sent: list[torch.Tensor] = []
    learner.send_weights(sent.append)
    torch.save({one.name: whole for one, whole in zip(learner.outline(), sent, strict=True)}, folder / f"{name}.pt")
    learner.save(folder / name, Progress(step=1), 2, None)
    teach(learner, samples)
    learner.save(folder / name, Progress(step=2), 2, None)
    learner.finish_saving()


def types(learner: LocalLearner) -> list[str]:
    """Of weights, of what Adam keeps, and of the start policy."""
    moments = [one for kept in learner.optimizer.state.values() for one in kept.values()]
    held = (*learner.model.parameters(), *moments), (*learner._start.parameters(),)
    return [" ".join(sorted({str(one.dtype) for one in some})) for some in held]


def main(folder: Path, task: str) -> None:
    torch.set_num_threads(1)
    ranks = join_ranks()
    with LiveBytes() as live:
        learner = learner_in_parts(folder / "model", ranks)
        loading = live.peak
        samples = [from_plain(Sample, plain) for plain in json.loads((folder / "samples.json").read_text())]
        if ranks.is_first:
            if task == "teach":
                (folder / "losses.json").write_text(json.dumps(teach(learner, samples)))
            else:
                learner.load(step_folder(folder / "four", 1))
            learner.save(folder / ("four" if task == "teach" else "two"), Progress(step=1), 1, None)
            learner.save_for_sampling(folder / f"pushed-{task}")
            learner.export(folder / f"exported-{task}")
            ranks.broadcast(None)
        else:
            follow(learner)
    beside = learner_in_parts(folder / "model", ranks, save_async=True)
    if ranks.is_first:
        save_beside(beside, folder, samples, "beside-four" if task == "teach" else "beside-two")
        ranks.broadcast(None)
    else:
        follow(beside)
    rounded = learner_in_parts(folder / "model", ranks, "bfloat16")
    if ranks.is_first:
        losses = teach(rounded, samples) if task == "teach" else []
        kl = rounded.update(samples, OPTIONS)[0].kl if task == "teach" else 0.0
        (folder / f"rounded-{task}.json").write_text(json.dumps([losses, kl, types(rounded)]))
        ranks.broadcast(None)
    else:
        follow(rounded)
    seen = {"loading": loading, "peak": live.peak, "largest": live.largest}
    (folder / f"live-{task}-{ranks.rank}.json").write_text(json.dumps(seen))
    leave_ranks()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
