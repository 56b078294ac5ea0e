from __future__ import annotations

from pathlib import Path

import pytest
from tiny import tiny_model, tiny_tokenizer

from clickgrad.errors import UserError
from clickgrad.policy.models import ChatTokenizer, load_model


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
