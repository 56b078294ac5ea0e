"""Segment by segment, prompts are what each family's chat template makes of the whole conversation."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from families import LLAMA_TEMPLATE, QWEN_TEMPLATE, THINKING_TEMPLATE, llama, qwen
from tiny import make_task

from clickgrad.agent.grammar import ReplyFormat
from clickgrad.agent.prompt import PromptBuilder
from clickgrad.errors import UserError
from clickgrad.policy.models import TEMPLATE_DATE, ChatTokenizer, load_tokenizer
from clickgrad.types import Completion, Finish, Observation, Prompt

FAMILIES: dict[str, Callable[[], ChatTokenizer]] = {
    "smollm2": lambda: load_tokenizer("smollm2"),
    "qwen2.5": qwen,
    "llama3.1": llama,
}
FORMATS: tuple[ReplyFormat, ...] = ("plain", "thinking")
PAGES = [  # of a recorded episode in the shop, with what pages are awkward about
    ("link Home [0]", "textbox Search [5]", "", "Blue Mug – 12,50 € (naïve 日本 \N{GRINNING FACE})", "Total: 1234567"),
    ("Notice", "  indented", "\ttabbed", "link Blue Mug [3]", "it's $12.50."),
    ("Stock: 3", "link Add to Cart [7]  ", " "),
]
REPLIES = {
    "plain": ['# Element: textbox Search [5]\ndo(action="Search", argument="blue mug", element="5")', "go_backward()"],
    "thinking": [
        '<think> I look for it. </think>\n<answer> do(action="Search", argument="blue mug", element="5") </answer>',
        "<think> Not here;\n\nback. </think>\n<answer> go_backward() </answer>",
    ],
}


@pytest.fixture(scope="module", params=list(FAMILIES))
def tokenizer(request: pytest.FixtureRequest) -> ChatTokenizer:
    return FAMILIES[request.param]()


def page(number: int) -> Observation:
    return Observation(f"http://shop.localhost/search?q=mug&page={number}", "Shop", PAGES[number], ())


def told(builder: PromptBuilder, turns: int) -> Prompt:
    task = make_task(intent="What does the blue mug cost?")
    history = [builder.reply(text) for text in REPLIES[builder.reply_format][:turns]]
    return builder.prompt("e", task, history, page(turns))


@pytest.mark.timeout(300)  # the first time, the embedded weights are dequantised
@pytest.mark.parametrize("turns", [0, 1, 2])
@pytest.mark.parametrize("reply_format", FORMATS)
def test_prompts_equal_the_chat_template(tokenizer: ChatTokenizer, reply_format: ReplyFormat, turns: int) -> None:
    prompt = told(PromptBuilder(tokenizer, reply_format, "full"), turns)
    messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
    whole = tokenizer.inner.apply_chat_template(messages, add_generation_prompt=True, date_string=TEMPLATE_DATE)
    assert list(prompt.ids) == whole["input_ids"]
    assert len(messages) == 2 + 2 * turns


def test_a_reply_may_end_with_any_of_the_models_end_tokens() -> None:
    names = {
        name: qwen_or_llama.inner.convert_ids_to_tokens(list(qwen_or_llama.end_ids))
        for name, qwen_or_llama in (("qwen2.5", qwen()), ("llama3.1", llama()))
    }
    assert names == {
        "qwen2.5": ["<|im_end|>", "<|endoftext|>"],
        "llama3.1": ["<|eot_id|>", "<|end_of_text|>", "<|eom_id|>"],
    }


def test_a_reply_that_ended_otherwise_stays_as_it_was_sampled() -> None:
    tokenizer = llama()
    builder = PromptBuilder(tokenizer, "plain", "short")
    usual = builder.reply("go_backward()")
    other = Completion(usual.text, (*usual.ids[:-1], tokenizer.end_ids[1]), usual.logprobs, Finish.STOP, 0)
    ids, unusual = (builder.prompt("e", make_task(), [past], page(2)).ids for past in (usual, other))
    assert [(a, b) for a, b in zip(ids, unusual, strict=True) if a != b] == [tokenizer.end_ids[:2]]


def test_the_date_of_the_template_does_not_change_the_prompt() -> None:
    """Unpinned, this template tells the model what day it is."""
    tokenizer = llama()
    assert "strftime_now" in LLAMA_TEMPLATE
    assert f"Today Date: {TEMPLATE_DATE}\n" in tokenizer.decode(told(PromptBuilder(tokenizer, "plain"), 0).ids)


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (QWEN_TEMPLATE.replace("messages[0].content", "''"), "drops or repeats"),
        (QWEN_TEMPLATE.replace("message.content", "message.content + ' ' + message.content"), "drops or repeats"),
        (
            QWEN_TEMPLATE.replace("message.role +", "message.role + (messages | length | string) +"),
            "unlike the one it asks for",
        ),
        ("{{ raise_exception('System role not supported') }}", r"refuses .*\(System role not supported\)"),
        (THINKING_TEMPLATE, "hides or rewrites parts of past replies.*agent.reply_format=plain"),
        (QWEN_TEMPLATE.replace("<|im_end|>", "<|im_start|>"), "does not close a reply with an end token"),
        (
            QWEN_TEMPLATE.replace(
                "'\n' + message.content", "'\n' + (' ' if message.role == 'user' else '') + message.content"
            ),
            "run across the borders",
        ),
        (QWEN_TEMPLATE.replace("message.content", "message.content | upper"), "drops or repeats"),
    ],
    ids=["drops system", "repeats", "counts turns", "raises", "strips thinking", "no end token", "merges", "rewrites"],
)
def test_a_template_that_cannot_be_cut_into_segments_is_refused(template: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason) as caught:
        PromptBuilder(qwen(template), "thinking", "short")
    assert "\n" not in str(caught.value)


def test_a_template_that_strips_thinking_serves_replies_without_any() -> None:
    prompt = told(PromptBuilder(qwen(THINKING_TEMPLATE), "plain", "short"), 2)
    assert prompt.ids
