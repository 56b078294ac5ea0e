"""A model of a few thousand parameters for runs that are only there to be disturbed.

It speaks the grammar, whatever page it sees: it looks around a little and then tosses a coin, so groups have contrast.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from clickgrad.policy.models import ChatTokenizer, LoadedModel

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
REPLIES = (
    'exit(message="heads")',
    'exit(message="tails")',
    'do(action="Click", element="0")',
    'do(action="Click", element="2")',
    'do(action="Search", argument="bear", element="1")',
)
PAGE_WORDS = ("Page: shop.localhost/cart", "Task: Toss a coin.", "link Home [0]", "textbox Search [1]", "link Cart (0)")
STEPS = 400
SHORT, LONG, LONG_EVERY = 60, 500, 10  # random tokens before a reply; long ones are slow, so they are rare


def tiny_tokenizer(texts: Sequence[str]) -> ChatTokenizer:
    """Byte-level BPE with ChatML, trained on the texts it will see."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator(texts, trainer)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<|im_end|>", pad_token="<|im_end|>", bos_token="<|im_start|>"
    )
    fast.chat_template = CHATML
    return ChatTokenizer(fast)


def tiny_model(tokenizer: ChatTokenizer, context_tokens: int = 1024, heads: int = 4) -> LoadedModel:
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer.inner),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=heads,
        num_key_value_heads=heads // 2,
        max_position_embeddings=context_tokens,
        eos_token_id=tokenizer.end_ids[0],
        pad_token_id=tokenizer.end_ids[0],
        bos_token_id=0,
        tie_word_embeddings=True,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = transformers.LlamaForCausalLM(config)
    model.eval()
    return LoadedModel("tiny", model, tokenizer)


def save_coin_model(folder: Path, heads: int = 4) -> None:
    """Taught on prompts of random tokens: what stands on a page shall mean nothing to it."""
    loaded = tiny_model(tiny_tokenizer([*REPLIES, *PAGE_WORDS] * 20), 4096, heads)
    tokenizer, rng = loaded.tokenizer, random.Random(0)
    header = tokenizer.encode_template("<|im_end|>\n<|im_start|>assistant\n")
    replies = [[*tokenizer.encode(reply), tokenizer.end_ids[0]] for reply in REPLIES]
    longest = max(map(len, replies))
    optimizer = torch.optim.AdamW(loaded.model.parameters(), lr=3e-3)
    for step in range(STEPS):
        rows, labels = [], []
        length = LONG if step % LONG_EVERY == 0 else rng.randrange(8, SHORT)
        for reply in replies:
            prompt = [rng.randrange(2, len(tokenizer.inner)) for _ in range(length)] + header
            padding = longest - len(reply)
            rows.append(prompt + reply + [0] * padding)
            labels.append([-100] * len(prompt) + reply + [-100] * padding)
        optimizer.param_groups[0]["lr"] = 3e-3 * (1 - step / STEPS)
        loss = loaded.model(input_ids=torch.tensor(rows), labels=torch.tensor(labels)).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    loaded.model.save_pretrained(folder)
    tokenizer.inner.save_pretrained(folder)
