"""Small tokenizers that speak as the model families do: their control tokens, their way of splitting text, and chat
templates that render system, user and assistant messages as theirs do. Vocabularies are trained on a page of text.
"""

from __future__ import annotations

from collections.abc import Sequence

import transformers
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from clickgrad.policy.models import ChatTokenizer

TEXTS = [
    'do(action="Click", element="3") do(action="Search", argument="blue mug", element="5") exit(message="$12.50")',
    "<think> I look for the price of the mug. </think>\n<answer> go_backward() </answer>",
    "Task: What does the blue mug cost?\nPage: shop.localhost/search?q=mug\nlink Home [0]\ntextbox Search [5]\n",
    "You are an agent that completes tasks on web sites. ** Simplified html **\n\nToday Date: 26 Jul 2024\n\n",
] * 4
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)

QWEN_TEMPLATE = (
    "{%- if messages[0].role == 'system' %}{{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}"
    "{%- else %}{{- '<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant."
    "<|im_end|>\n' }}{%- endif %}"
    "{%- for message in messages %}{%- if message.role != 'system' or not loop.first %}"
    "{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"
)
LLAMA_TEMPLATE = (
    "{{- bos_token }}"
    "{%- if date_string is not defined %}{%- set date_string = strftime_now('%d %b %Y') %}{%- endif %}"
    "{%- set told = '' %}{%- if messages[0].role == 'system' %}"
    "{%- set told = messages[0].content | trim %}{%- set messages = messages[1:] %}{%- endif %}"
    "{{- '<|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: ' }}"
    "{{- date_string + '\n\n' + told + '<|eot_id|>' }}"
    "{%- for message in messages %}{{- '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' }}"
    "{{- message.content | trim + '<|eot_id|>' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %}"
)
THINKING_TEMPLATE = QWEN_TEMPLATE.replace("message.content", "message.content.split('</think>')[-1].lstrip('\n')")


def small_tokenizer(template: str, specials: Sequence[str], bos: str | None, eos: str, digits: str) -> ChatTokenizer:
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS % digits), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=700,
        special_tokens=list(specials),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator(TEXTS, trainer)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, bos_token=bos, eos_token=eos)
    fast.chat_template = template
    ends = [token for token in ("<|endoftext|>", "<|end_of_text|>", "<|eom_id|>") if token in specials]
    return ChatTokenizer(fast, fast.convert_tokens_to_ids(ends))


def qwen(template: str = QWEN_TEMPLATE) -> ChatTokenizer:
    return small_tokenizer(template, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], None, "<|im_end|>", "")


def llama() -> ChatTokenizer:
    specials = [
        *("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>"),
        *("<|eom_id|>", "<|eot_id|>"),
    ]
    return small_tokenizer(LLAMA_TEMPLATE, specials, "<|begin_of_text|>", "<|eot_id|>", "{1,3}")
