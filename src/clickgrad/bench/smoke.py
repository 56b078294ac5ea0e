"""A smoke test of a whole machine: a tiny model, real Chromium, one M-GRPO step by all GPUs, or by two processes.

It goes through what a large run goes through: a placement, `torchrun`, shards, an engine, pages, an update, pushed
weights, a sharded checkpoint, an exported model.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from clickgrad.backends.gpus import gpus_here
from clickgrad.bench.chaos.scenes import COMMON, sets, write_tasks
from clickgrad.errors import ClickgradError
from clickgrad.report.metrics import Metrics
from clickgrad.run_layout import METRICS, MODEL

ON_CPU = 2  # processes that learn, where there is no GPU
MOST_S = 900.0  # vLLM takes minutes to start
HEAD_COUNT = 2  # of 32 dimensions: vLLM has no smaller ones
SHOWN = ("episodes", "crashed", "success", "loss", "grad_norm", "sampler_gap")


def smoke() -> dict[str, Any]:
    """What came of it. Raises ClickgradError with the last line that was said when it failed."""
    gpus, started = gpus_here(), time.monotonic()
    engine = "vllm" if gpus and importlib.util.find_spec("vllm") else "torch"
    learners = max(1, len(gpus) // 2 if engine == "vllm" else len(gpus)) if gpus else ON_CPU
    with TemporaryDirectory(prefix="clickgrad-smoke-") as place:
        run = Path(place) / "run"
        _run([sys.executable, "-c", MAKE_MODEL, str(Path(place) / "model")])
        words = ["reinforce", "--start", str(Path(place) / "model"), "--run", str(run), *_settings(Path(place), engine)]
        together = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={learners}", "-m", "--"]
        _run([sys.executable, *(together if learners > 1 else ["-m"]), "clickgrad", *words])
        (row,) = Metrics(run / METRICS).read()
        if not row["grad_norm"] or not isfinite(row["grad_norm"]) or not (run / MODEL / "config.json").is_file():
            raise ClickgradError(f"the smoke run learned nothing: its gradient is {row['grad_norm']}")
    figures = {name: round(row[name], 4) for name in SHOWN if row.get(name) is not None}
    return {"engine": engine, "learners": learners, **figures, "seconds": round(time.monotonic() - started)}


MAKE_MODEL = (
    "import sys; from pathlib import Path; from clickgrad.bench.chaos.model import save_coin_model; "
    f"save_coin_model(Path(sys.argv[1]), {HEAD_COUNT})"
)


def _settings(place: Path, engine: str) -> tuple[str, ...]:
    """A coin is tossed four times for each of four tasks: some groups have heads and tails."""
    return sets(
        COMMON
        | {
            "tasks.suite": write_tasks(place / "tasks.json"),
            "lora.rank": 0,
            "learner.recompute": "true",
            "rollout.reply_s": 120.0,
            "reinforce.steps": 1,
            "reinforce.groups": 4,
            "reinforce.group_size": 4,
            "reinforce.kl_beta": 0.01,
            "reinforce.engine": engine,
        }
    )


def _run(words: list[str]) -> None:
    environment = os.environ | ({} if gpus_here() else {"OMP_NUM_THREADS": "1"})
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=MOST_S)
    except subprocess.TimeoutExpired:
        raise ClickgradError(f"the smoke run was not done in {MOST_S:.0f} s") from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("clickgrad:") or "Error" in line]
        raise ClickgradError(f"the smoke run failed: {(said or done.stderr.strip().splitlines() or ['?'])[0]}")
