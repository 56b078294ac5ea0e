"""Where a run stands survives a checkpoint, every counter of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path

from tiny import new_learner, tiny_model, tiny_tokenizer

from clickgrad.learn import checkpoint
from clickgrad.learn.progress import Progress


def test_a_resumed_run_knows_its_place_in_the_tasks_and_what_they_came_to(tmp_path: Path) -> None:
    progress = Progress(
        step=3,
        tasks_taken=14,
        episodes=52,
        crashed=4,
        skipped_groups=5,
        records={"t1": (3, 4), "t2": (0, 8)},
        held_out=(0.5,),
        beliefs={"t1": (2.7, 0.9)},
        starts={"t1": 2},
        kept=("step-0002/task-00004/member-1/try-0",),
        spent_s=12.5,
        ended="worse",
    )
    unsaid = [one.name for one in fields(Progress) if getattr(progress, one.name) == getattr(Progress(), one.name)]
    assert unsaid == [], "a counter at its start value would be found again in any case"
    learner = new_learner(tiny_model(tiny_tokenizer(["some text"])))
    learner.save(tmp_path, progress, 1, None)
    assert learner.load(checkpoint.step_folder(tmp_path, 3)) == progress


def test_a_checkpoint_from_before_there_were_beliefs_starts_and_a_clock_is_read(tmp_path: Path) -> None:
    learner = new_learner(tiny_model(tiny_tokenizer(["some text"])))
    learner.save(tmp_path, Progress(step=1, episodes=7, records={"t1": (3, 4)}), 1, None)
    file = checkpoint.step_folder(tmp_path, 1) / checkpoint.STATE
    state = json.loads(file.read_text())
    old = {
        name: state[name] for name in state if name not in ("beliefs", "starts", "kept", "spent_s", "ended", "digest")
    }
    file.write_text(json.dumps(old | {"digest": hashlib.sha256(json.dumps(old, sort_keys=True).encode()).hexdigest()}))
    assert learner.load(file.parent) == Progress(step=1, episodes=7, records={"t1": (3, 4)})
