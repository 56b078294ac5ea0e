"""Speeds and sizes: models by their architecture, GPUs by data sheets and assumptions, machines by what bench printed.

Everything ends as seconds for one model on one device. Knows nothing of a workload.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import isfinite
from pathlib import Path
from typing import Any

from clickgrad.errors import UserError
from clickgrad.planning.simulation import BrowserCosts, EngineCosts, Work

Figures = Mapping[str, float]
MEASURED_MODEL = "smollm2"  # that the benches run
WORKER_CORES = 2  # for every process that drives browsers
# A line of `clickgrad bench ... --json` is told apart by the figures that the plan takes from it.
BENCHES = {
    "engine": (
        "threads",
        "busy_cores",
        *("read_ms_256", "read_ms_768", "draw_ms_1x256", "draw_ms_16x256", "draw_ms_16x768"),
        "swap_ms",
    ),
    "browser": (
        *("pocket_open_ms", "pocket_open_core_ms", "pocket_turn_ms", "pocket_turn_core_ms"),
        "pocket_busy_cores",
        "session_mb",
    ),
    "learn": ("tokens_comb", "s_comb"),
    "worlds": ("rss_mb_per_world",),
}


@dataclass(frozen=True, slots=True)
class Model:
    """A decoder with gated feed-forward layers, as Llama, Qwen and SmolLM are."""

    name: str
    hidden: int
    layers: int
    query: int  # heads times head size
    key_value: int  # key/value heads times head size
    feed_forward: int
    vocabulary: int
    tied: bool  # the embedding is the last layer, too

    @property
    def body(self) -> int:
        """Parameters that every token passes through."""
        attention = 2 * self.hidden * self.query + 2 * self.hidden * self.key_value
        return self.layers * (attention + 3 * self.hidden * self.feed_forward + 2 * self.hidden) + self.hidden

    @property
    def head(self) -> int:
        """Parameters that only a token with logits passes through."""
        return self.vocabulary * self.hidden

    @property
    def parameters(self) -> int:
        return self.body + self.head * (1 if self.tied else 2)

    def adapter(self, rank: int) -> int:
        """Parameters of LoRA on all linear layers: rank x (in + out) each."""
        attention = 2 * (self.hidden + self.query) + 2 * (self.hidden + self.key_value)
        return rank * self.layers * (attention + 3 * (self.hidden + self.feed_forward))

    @property
    def cached(self) -> int:
        """Numbers that the key/value cache holds for a token."""
        return 2 * self.layers * self.key_value


@dataclass(frozen=True, slots=True)
class LearnCosts:
    token_s: float  # of one learner, forward and backward
    push_s: float


@dataclass(frozen=True, slots=True)
class Host:
    """Who carries the browsers."""

    browser: BrowserCosts
    session_mb: float  # of a browser session with its world


@dataclass(frozen=True, slots=True)
class Device:
    name: str
    measured: bool
    bytes: int  # of a weight and of a cached number
    memory_gb: float | None  # None: the host's
    cores: int  # of the machine that was measured; 0 for a GPU


@cache
def shipped() -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / "figures.toml").read_text())


def find_model(name: str) -> Model:
    """A known name, or a folder with a config.json."""
    known = shipped()["models"]
    if name in known:
        return Model(name, **known[name])
    path = Path(name) / "config.json"
    if not path.is_file():
        raise UserError(f"--model {name}: unknown; give a folder with a config.json, or one of {', '.join(known)}")
    try:
        config = json.loads(path.read_text())
        heads = config["num_attention_heads"]
        size = config.get("head_dim") or config["hidden_size"] // heads
        return Model(
            name=Path(name).name,
            hidden=config["hidden_size"],
            layers=config["num_hidden_layers"],
            query=heads * size,
            key_value=config.get("num_key_value_heads", heads) * size,
            feed_forward=config["intermediate_size"],
            vocabulary=config["vocab_size"],
            tied=bool(config.get("tie_word_embeddings", False)),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise UserError(f"{path} does not describe a model that can be planned ({error!r})") from None


def find_device(name: str) -> Device:
    gpus, machines = shipped()["gpus"], shipped()["measured"]
    if name in gpus:
        return Device(name, False, 2, gpus[name]["memory_gb"], 0)
    if name in machines:
        return Device(name, True, 4, None, int(machines[name]["engine"]["threads"]))
    raise UserError(f"--device {name}: unknown; known are {', '.join([*machines, *gpus])}")


def read_measured(path: Path) -> dict[str, Figures]:
    """Lines of `clickgrad bench ... --json` by bench; of two of a kind the later one counts."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--measured {path}: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    found: dict[str, Figures] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            bench, figures = _read_line(line, f"--measured {path}, line {number}")
            found[bench] = figures
    if not found:
        raise UserError(f"--measured {path} is empty: fill it with `clickgrad bench browser --json >> {path}`")
    return found


def _read_line(line: str, where: str) -> tuple[str, Figures]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    for bench, names in BENCHES.items():
        if isinstance(row, dict) and set(names) <= row.keys():
            wrong = next((name for name in names if not _is_positive(row[name])), None)
            if wrong:
                raise UserError(f"{where}: {wrong} is {row[wrong]!r}, not a number above 0")
            return bench, {name: row[name] for name in names}
    raise UserError(f"{where} is no line of `clickgrad bench {'|'.join(BENCHES)} --json` of this version")


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value > 0


def figures_of(machine: str, measured: Mapping[str, Figures]) -> dict[str, Figures]:
    """All that was measured: by the user, else on the shipped machine."""
    return {**shipped()["measured"][machine], **measured}


# --- measured on a machine, for the model of the benches; another model in proportion to its size ---


def measured_engine(figures: Figures, model: Model) -> EngineCosts:
    """Reading: a line through 256 and 768 tokens. Drawing: a plane through 1 row of 256, 16 of 256 and 16 of 768."""
    like = find_model(MEASURED_MODEL)
    work, cache = (model.body + model.head) / (like.body + like.head), model.cached / like.cached
    token_ms = (figures["read_ms_768"] - figures["read_ms_256"]) / 512
    prompt_ms = max(figures["read_ms_256"] - 256 * token_ms, 0.0)
    context_ms = max((figures["draw_ms_16x768"] - figures["draw_ms_16x256"]) / (16 * 512), 0.0)
    row_ms = max((figures["draw_ms_16x256"] - figures["draw_ms_1x256"]) / 15 - 256 * context_ms, 0.0)
    step_ms = max(figures["draw_ms_1x256"] - row_ms - 256 * context_ms, 0.0)
    return EngineCosts(
        prompt_s=prompt_ms / 1000,
        token_s=token_ms / 1000 * model.body / like.body,
        step_s=step_ms / 1000 * work,
        row_s=row_ms / 1000 * work,
        context_s=context_ms / 1000 * cache,
        cores=figures["busy_cores"],
    )


def measured_learner(learn: Figures, engine: Figures, model: Model, passed: int) -> LearnCosts:
    """The bench trains an adapter, without a reference. `passed` is what `passes` says of the run that is planned."""
    ratio = model.body / find_model(MEASURED_MODEL).body
    token_s = learn["s_comb"] / learn["tokens_comb"] * ratio * passed / passes(lora=True)
    return LearnCosts(token_s, engine["swap_ms"] / 1000 * ratio)


def measured_host(browser: Figures, worlds: Figures, site_wait_s: float) -> Host:
    # One process drives all browsers of a worker and is the last to be free: a worker's cores are never all busy.
    idle = max(WORKER_CORES / browser["pocket_busy_cores"], 1.0)
    opening, turn = (
        _work(browser[f"pocket_{deed}_ms"], browser[f"pocket_{deed}_core_ms"], idle, site_wait_s)
        for deed in ("open", "turn")
    )
    return Host(BrowserCosts(opening, turn), browser["session_mb"] + worlds["rss_mb_per_world"])


def _work(alone_ms: float, core_ms: float, idle: float, site_wait_s: float) -> Work:
    """Alone, what was not work was waiting. Work of several processes at once may even exceed the time it took."""
    return Work(core_ms / 1000 * idle, max(alone_ms - core_ms, 0.0) / 1000 + site_wait_s)


def passes(lora: bool, reference: bool = False, recompute: bool = False) -> int:
    """Operations of a token on every weight: forward 2, back to the inputs 2, to the weights 2. Each other pass 2."""
    return (4 if lora else 6) + (2 if reference else 0) + (2 if recompute else 0)


# --- GPUs: data sheets and assumptions ---


def assumed_engine(gpu: str, model: Model) -> EngineCosts:
    sheet, assumed = shipped()["gpus"][gpu], shipped()["assumed"]
    flops, read = sheet["flops"] * assumed["reading"], sheet["bytes_per_s"] * assumed["drawing"]
    return EngineCosts(
        prompt_s=assumed["prompt_s"],
        token_s=2 * model.body / flops,
        pair_s=4 * model.layers * model.query / flops / 2,  # scores and sums; on average a token sees half
        step_s=assumed["step_s"] + 2 * (model.body + model.head) / read,  # two bytes a weight
        row_s=2 * (model.body + model.head) / flops,
        context_s=2 * model.cached / read,
    )


def assumed_learner(gpu: str, model: Model, rank: int, passed: int) -> LearnCosts:
    sheet, assumed = shipped()["gpus"][gpu], shipped()["assumed"]
    pushed = 4 * (model.adapter(rank) if rank else model.parameters)  # bytes, in float32 as they are trained
    return LearnCosts(
        token_s=passed * model.body / (sheet["flops"] * assumed["learning"]),
        push_s=2 * pushed / assumed["push_bytes_per_s"],  # written once, read once by all engines side by side
    )
