"""The names of files in a run's folder. Nothing is read or written here."""

from __future__ import annotations

from pathlib import Path

CONFIG = "config.toml"  # the resolved options
LOCK = ".lock"
COMPUTE = "compute.json"  # the type of products that was chosen, and why
METRICS = "metrics.jsonl"  # a line a step
TRAJECTORIES = "trajectories"
EVALUATION = "evaluate.jsonl.zst"  # of an evaluation, among the trajectories
DEMOS = "demos.jsonl.zst"  # of cloning, among the trajectories
EXPERTS = "experts.jsonl.zst"  # that reinforcement follows, among the trajectories
CHECKPOINTS = "checkpoints"
MODEL = "model"  # an ordinary transformers folder
MADE_BY = "clickgrad.toml"  # in an exported model: the options of the run that made it
REPORT_JSON = "report.json"
REPORT_PAGE = "report.html"
SCREENSHOTS = "screenshots"
LIVE = "live"  # what running episodes have come to, while somebody watches
WANTED = "wanted"  # in there: touched by whoever watches
TIMES = "times.jsonl"  # how long the parts took
SPENDING = "spending.jsonl"  # on hosted models
LOSSES = "cluster.jsonl"  # what a cluster lost
SKIPPED = "skipped"  # batches whose loss was not finite
PUSHED = "pushed"  # weights on their way to vLLM
SERVER_LOG = "vllm.log"
CLONE, REINFORCE = "clone", "reinforce"  # folders of the parts of a training run


def step_trajectories(run: Path, step: int) -> Path:
    return run / TRAJECTORIES / f"step-{step:04d}.jsonl.zst"


def probe_trajectories(run: Path, step: int) -> Path:
    return run / TRAJECTORIES / f"probe-{step:04d}.jsonl.zst"


def picture_name(turn: str) -> str:
    """Of the picture of a turn, by its episode and number: `step-0003/task-00012/member-5/try-0-07`."""
    return turn.replace("/", "-") + ".jpg"


def model_of(name: str) -> str:
    """A run folder stands for the model it made: the last one, if it made several. Any other name for itself."""
    made = [Path(name) / MODEL, Path(name) / REINFORCE / MODEL, Path(name) / CLONE / MODEL]
    return next((str(folder) for folder in made if folder.is_dir()), name)
