"""A model of a few thousand parameters and a venue without a browser: real code paths at test speed.

The tiny model is cloned from fixed replies, so that it speaks the grammar and leaves exactly one thing to chance.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import FakeBrowser, FakePage
from clickgrad.learn.samples import clone_samples
from clickgrad.learn.step import clone_step, make_optimizer
from clickgrad.policy.models import ChatTokenizer, LoadedModel
from clickgrad.rollout.venue import Visit
from clickgrad.types import (
    AnswerCheck,
    Completion,
    End,
    Evidence,
    Finish,
    Observation,
    Outcome,
    Task,
    Trajectory,
    Turn,
    Unparsable,
    Verdict,
)

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

TEACHING_STEPS = 250  # leaves less than one reply in a hundred outside the grammar


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


def make_task(name: str = "task", intent: str = "Choose.", answer: str = "yes", url: str = "http://toy/") -> Task:
    return Task(name, "toy", "train", ("toy",), "toy.choose", intent, url, (AnswerCheck((answer,)),))


def make_turn(
    prompt_ids: Sequence[int], reply_ids: Sequence[int], logprobs: Sequence[float] | None = None, text: str = ""
) -> Turn:
    completion = Completion(
        text, tuple(reply_ids), tuple(logprobs or [0.0] * len(reply_ids)), Finish.STOP, policy_version=0
    )
    observation = Observation("http://toy/", "Toy", ("a line",), ())
    return Turn(observation, tuple(prompt_ids), completion, Unparsable("none"))


def make_trajectory(
    turns: Sequence[Turn], reward: float | None, task: Task | None = None, episode: str = "episode"
) -> Trajectory:
    outcome = {1.0: Outcome.PASSED, 0.0: Outcome.FAILED}.get(reward, Outcome.UNJUDGED)  # type: ignore[arg-type]
    end = End.CRASHED if reward is None else End.STOPPED
    return Trajectory(
        episode, task or make_task(), 0, tuple(turns), end, None, Verdict(outcome), reward, None, 1.0, "toy", "format"
    )


class FakeVenue:
    """Episodes on a fake site; nothing there changes any rows.

    It may say by itself what the task is, and that the episode is over when the agent is at `end_url`.
    """

    def __init__(self, pages: dict[str, FakePage], intent: str = "", end_url: str = "") -> None:
        self._browser = FakeBrowser(pages)
        self._intent = intent
        self._end_url = end_url

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        session = await self._browser.open(task.start_urls[0], more_tabs=task.start_urls[1:])

        async def evidence(answer: str | None) -> Evidence:
            return Evidence(answer, session.url, await session.page_text(), ())

        try:
            known = replace(task, intent=self._intent) if self._intent else None
            yield Visit(session, evidence, known, lambda: session.url == self._end_url)
        finally:
            await session.close()


def teach(loaded: LoadedModel, builder: PromptBuilder, task: Task, page: Observation, replies: Sequence[str]) -> None:
    """Clone until the model says one of `replies`, each as likely as the other, and nothing else."""
    prompt = builder.prompt("teach", task, (), page).ids
    turns = [make_turn(prompt, builder.reply(reply).ids) for reply in replies]
    samples = clone_samples(make_trajectory(turns, 1.0))
    optimizer = make_optimizer(loaded.model, lr=3e-3)
    for step in range(TEACHING_STEPS):
        clone_step(loaded.model, optimizer, samples, lr=3e-3 * (1 - step / TEACHING_STEPS), micro_tokens=4096)


def save(loaded: LoadedModel, folder: Path) -> Path:
    loaded.model.save_pretrained(folder)
    loaded.tokenizer.inner.save_pretrained(folder)
    return folder
