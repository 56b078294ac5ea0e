from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import peft
import pytest
import safetensors.torch
import torch
from tiny import save, tiny_model, tiny_tokenizer

from clickgrad.errors import UserError
from clickgrad.policy.models import ChatTokenizer, check_model, load_model, load_tokenizer


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("/no/such/folder", "not found: give a transformers folder"),
        ("./nothing", "not found: give a transformers folder"),
        ("nonsense", "not found: give a transformers folder"),
    ],
)
def test_a_missing_model_is_one_clear_line(source: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        load_model(source)
    assert "\n" not in str(caught.value)


def test_a_folder_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"config\.json is missing"):
        load_model(str(tmp_path))


def test_a_broken_model_folder_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(UserError, match="cannot be loaded") as caught:
        load_model(str(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_model_is_noticed_before_its_weights_are_read(tmp_path: Path, file: str) -> None:
    folder = save(tiny_model(tiny_tokenizer(["some text"])), tmp_path / "model")
    check_model(str(folder))
    content = (folder / file).read_bytes()
    (folder / file).write_bytes(content[: len(content) // 2])
    with pytest.raises(UserError, match="cannot be loaded") as caught:
        check_model(str(folder))
    assert "\n" not in str(caught.value)
    with pytest.raises(UserError):
        load_model(str(folder))


def test_a_model_without_a_chat_template_is_refused() -> None:
    tokenizer = tiny_tokenizer(["some text"]).inner
    tokenizer.chat_template = None
    with pytest.raises(UserError, match="no chat template"):
        ChatTokenizer(tokenizer)


def test_text_survives_the_tokenizer_byte_for_byte() -> None:
    tokenizer = tiny_tokenizer(["some text"])
    for text in ("<|im_end|> is text here", "  spaces  kept ", "naïve 日本 \N{GRINNING FACE}", "line\nbreak\n"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert tokenizer.end_ids[0] not in tokenizer.encode(text)
    assert tiny_model(tokenizer).context_tokens == 1024


@pytest.mark.parametrize("source", ["chat:gpt-4o", "scripted:expert"])
def test_a_policy_that_answers_in_text_is_no_model(source: str) -> None:
    with pytest.raises(UserError, match="answers in text, without token ids: it can be evaluated, but not trained"):
        load_model(source)


def test_the_end_tokens_of_the_generation_settings_end_replies_too(tmp_path: Path) -> None:
    loaded = tiny_model(tiny_tokenizer(["some text"]))
    loaded.model.generation_config.eos_token_id = [7, loaded.tokenizer.end_ids[0]]
    assert load_tokenizer(str(save(loaded, tmp_path))).end_ids == (loaded.tokenizer.end_ids[0], 7)


def test_a_context_can_be_made_shorter_but_not_longer_than_the_models() -> None:
    loaded = tiny_model(tiny_tokenizer(["some text"]), context_tokens=1024)
    assert replace(loaded, most_tokens=512).context_tokens == 512
    with pytest.raises(UserError, match=r"model\.context_tokens=2048: tiny has a context of 1024"):
        replace(loaded, most_tokens=2048)


# --- adapters -------------------------------------------------------------------------------------------------------


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    """Of the model in `base` beside it, changed so that it makes a difference."""
    base = save(tiny_model(tiny_tokenizer(["some text"])), tmp_path / "base")
    options = peft.LoraConfig(
        r=2, target_modules=["q_proj"], init_lora_weights=False, base_model_name_or_path=str(base)
    )
    adapted = peft.get_peft_model(load_model(str(base)).model, options)
    adapted.save_pretrained(tmp_path / "adapter")
    return tmp_path / "adapter"


def rename_base(adapter: Path, base: object) -> None:
    file = adapter / "adapter_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"base_model_name_or_path": base}))


def first_weight(source: Path) -> torch.Tensor:
    weight: torch.Tensor = load_model(str(source)).model.model.layers[0].self_attn.q_proj.weight
    return weight


def test_an_adapters_folder_is_its_base_with_the_adapter_added(adapter: Path) -> None:
    tensors = safetensors.torch.load_file(adapter / "adapter_model.safetensors")
    down, up = (tensors[f"base_model.model.model.layers.0.self_attn.q_proj.lora_{side}.weight"] for side in ("A", "B"))
    scale = 8 / 2  # lora_alpha / r
    expected = first_weight(adapter.parent / "base") + scale * up @ down
    assert torch.allclose(first_weight(adapter), expected, atol=1e-6)
    assert not torch.allclose(first_weight(adapter), first_weight(adapter.parent / "base"), atol=1e-3)


def test_an_adapter_whose_base_is_missing_names_it(adapter: Path) -> None:
    rename_base(adapter, "/no/such/base")
    with pytest.raises(UserError, match=r"the base of the adapter .*'/no/such/base' not found"):
        load_model(str(adapter))
    rename_base(adapter, None)
    with pytest.raises(UserError, match="does not say which model it was trained on"):
        load_model(str(adapter))


def test_an_adapter_of_another_base_is_refused_by_name(adapter: Path, tmp_path: Path) -> None:
    """Once with other shapes, once with fewer layers, so that some of its weights have no place."""
    for change in ({"hidden_size": 32}, {"num_hidden_layers": 1}):
        loaded = tiny_model(tiny_tokenizer(["some text"]))
        other = type(loaded.model)(type(loaded.model.config)(**loaded.model.config.to_dict() | change))
        base = save(replace(loaded, model=other), tmp_path / str(change))
        rename_base(adapter, str(base))
        with pytest.raises(UserError, match=r"does not fit its base|is of another base than") as caught:
            load_model(str(adapter))
        assert str(base) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_broken_adapter_is_one_clear_line(adapter: Path) -> None:
    (adapter / "adapter_model.safetensors").write_bytes(b"rubbish")
    with pytest.raises(UserError, match="does not fit its base"):
        load_model(str(adapter))
    (adapter / "adapter_config.json").write_text("{")
    with pytest.raises(UserError, match=r"adapter_config\.json cannot be read"):
        load_model(str(adapter))
