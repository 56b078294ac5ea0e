"""What is known of models, GPUs and machines: architectures, data sheets, and what `clickgrad bench` printed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import inf
from pathlib import Path
from typing import Any

from clickgrad.errors import UserError

Figures = Mapping[str, float]
MEASURED = "cpu-2core"  # the machine whose figures are shipped; beside GPUs, too, browsers are taken to be as there
MEASURED_MODEL = "smollm2"  # that the benches run


@cache
def shipped() -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / "figures.toml").read_text())


@dataclass(frozen=True, slots=True)
class Model:
    name: str
    parameters: int
    body: int  # parameters that every token passes through
    head: int  # parameters that only a token with logits passes through
    adapter: int  # parameters of LoRA on all linear layers, for every rank: in + out of each
    cached: int  # numbers that the key/value cache holds for a token
    attended: int  # numbers that the queries of all layers have for a token
    kept: int  # numbers that a token leaves behind in the forward pass, for the way back
    kept_recomputing: int  # where layers keep their input alone, and one at a time all

    def trained(self, rank: int) -> int:
        return rank * self.adapter if rank else self.parameters


def make_model(
    name: str, hidden: int, layers: int, query: int, key_value: int, feed_forward: int, vocabulary: int, tied: bool
) -> Model:
    """A decoder with gated feed-forward layers, as Llama, Qwen and SmolLM are. `tied`: the embedding is the head, too.

    A layer keeps: of two norms input, scaled input and output (6 hidden), of attention queries and output (2 query),
    keys and values (2 key_value), of the feed-forward part gate, its activation, up and their product (4 feed_forward).
    """
    layer = 2 * hidden * query + 2 * hidden * key_value + 3 * hidden * feed_forward + 2 * hidden
    body, head = layers * layer + hidden, vocabulary * hidden
    kept = 6 * hidden + 2 * query + 2 * key_value + 4 * feed_forward
    return Model(
        name=name,
        parameters=body + head * (1 if tied else 2),
        body=body,
        head=head,
        adapter=layers * (2 * (hidden + query) + 2 * (hidden + key_value) + 3 * (hidden + feed_forward)),
        cached=2 * layers * key_value,
        attended=layers * query,
        kept=layers * kept,
        kept_recomputing=layers * hidden + kept,
    )


def find_model(name: str) -> Model:
    """A known name, or a folder with a config.json."""
    known = shipped()["models"]
    if name in known:
        return make_model(name, **known[name])
    path = Path(name) / "config.json"
    if not path.is_file():
        raise UserError(f"--model {name}: unknown; give a folder with a config.json, or one of {', '.join(known)}")
    try:
        config = json.loads(path.read_text())
        heads, hidden, layers = (config[key] for key in ("num_attention_heads", "hidden_size", "num_hidden_layers"))
        size, grouped = config.get("head_dim") or hidden // heads, config.get("num_key_value_heads", heads)
        sizes = (hidden, layers, heads * size, grouped * size, config["intermediate_size"], config["vocab_size"])
        return make_model(Path(name).name, *sizes, bool(config.get("tie_word_embeddings")))
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise UserError(f"{path} does not describe a model that can be planned ({error!r})") from None


def find_gpu(device: str) -> Figures | None:
    """Its data sheet; None for the machine that was measured."""
    gpus: dict[str, Figures] = shipped()["gpus"]
    if device not in {MEASURED, *gpus}:
        raise UserError(f"--device {device}: unknown; known are {', '.join([MEASURED, *gpus])}")
    return gpus.get(device)


def read_measured(path: Path) -> dict[str, Figures]:
    """Lines of `clickgrad bench ... --json` by bench; of two of a kind the later one counts."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--measured {path}: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    found = dict(_read_line(line, f"--measured {path}, line {at}") for at, line in enumerate(lines, 1) if line.strip())
    if not found:
        raise UserError(f"--measured {path} is empty: fill it with `clickgrad bench browser --json >> {path}`")
    return found


def _read_line(line: str, where: str) -> tuple[str, Figures]:
    """A bench is told by the figures that are shipped of it."""
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    benches: dict[str, Figures] = shipped()["measured"][MEASURED]
    for bench, names in benches.items():
        if isinstance(row, dict) and names.keys() <= row.keys():
            for name in names:
                if type(row[name]) not in (int, float) or not 0 < row[name] < inf:
                    raise UserError(f"{where}: {name} is {row[name]!r}, not a number above 0")
            return bench, {name: row[name] for name in names}
    raise UserError(f"{where} is no line of `clickgrad bench {'|'.join(benches)} --json` of this version")
