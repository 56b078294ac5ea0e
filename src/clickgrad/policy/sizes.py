"""What a model is made of, by its architecture: parameters, cache, what learning keeps. Loads no torch."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from clickgrad.errors import UserError

ADAPTED = 7  # linear layers of a layer: queries, keys, values, output; gate, up, down


@cache
def _known() -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / "sizes.toml").read_text())


@dataclass(frozen=True, slots=True)
class Model:
    name: str
    parameters: int
    body: int  # parameters that every token passes through
    head: int  # parameters that only a token with logits passes through
    adapter: int  # parameters of LoRA on all linear layers, for every rank: in + out of each
    cached: int  # numbers that the key/value cache holds for a token
    attended: int  # numbers that the queries of all layers have for a token
    vocabulary: int
    layers: int
    layer: int  # parameters of one
    layer_input: int  # numbers that a token brings into a layer
    layer_kept: int  # numbers that it leaves behind there in the forward pass, for the way back
    outside: int  # parameters of no layer: embedding, head and the last norm

    def trained(self, rank: int) -> int:
        return rank * self.adapter if rank else self.parameters

    def kept(self, rank: int) -> int:
        """As `layer_kept`, with LoRA of that rank: frozen norms keep no scaled input, adapters what is between them."""
        return self.layer_kept - 2 * self.layer_input + ADAPTED * rank if rank else self.layer_kept


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
        vocabulary=vocabulary,
        layers=layers,
        layer=layer,
        layer_input=hidden,
        layer_kept=kept,
        outside=hidden + head * (1 if tied else 2),
    )


def is_known(name: str) -> bool:
    return name in _known()


def find_model(name: str) -> Model:
    """A known name, or a folder with a config.json."""
    known = _known()
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
