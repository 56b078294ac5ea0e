"""How fast the torch engine answers a recorded crowd of episodes, against transformers on the same prompts.

The crowd: groups of agents on real pages of Pocket Arena. Members of a group walk with the task's expert for a while
and then each its own way, as sampled agents do, so they share less and less. Everybody draws at most as many tokens as
the recorded reply has, and goes on with the recorded reply: all engines answer the same prompts. A trained policy ends
its replies by itself and is predictable; the base model is neither, so `--start` matters.
"""

from __future__ import annotations

import asyncio
import copy
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from math import log
from pathlib import Path
from typing import Any

import torch

from clickgrad.agent.grammar import render
from clickgrad.agent.prompt import PromptBuilder
from clickgrad.backends.agents import make_agent
from clickgrad.backends.policies import prompt_builder
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.backends.venues import open_venue
from clickgrad.bench.engine_parts import measure_parts
from clickgrad.bench.figures import PeakMemory, percentile
from clickgrad.config import Config
from clickgrad.display import progress_bar
from clickgrad.policy.models import LoadedModel, load_model
from clickgrad.policy.scripted import ExpertPolicy
from clickgrad.policy.torch_engine import TorchEngine
from clickgrad.rollout.episode import run_episode
from clickgrad.run_layout import model_of
from clickgrad.types import Click, Completion, Prompt, Sampling

EPISODES, GROUP, TURNS = 32, 8, 6
STAYS = 0.6  # the chance at every turn that a member still does what the expert does
CHECKED = 24  # completions whose logprobs are computed again


@dataclass(frozen=True, slots=True)
class EngineFigures:
    turns: int
    prompt_tokens: int
    reply_tokens: int
    turns_per_min: float
    baseline_generate_turns_per_min: float
    ratio: float
    baseline_continuous_turns_per_min: float | None  # transformers' own continuous batching, where it runs
    continuous_ratio: float | None
    cache_hit_share: float
    tokens_per_forward: float  # that a reply gains from a pass of the model
    peak_mb: float
    baseline_peak_mb: float
    max_logprob_error: float  # against a plain forward pass
    compute: str  # the type of products of all above
    bfloat16_turns_per_min: float
    bfloat16_ratio: float
    bfloat16_tokens_per_forward: float
    bfloat16_mean_logprob_error: float
    bfloat16_p99_logprob_error: float
    bfloat16_max_logprob_error: float
    bfloat16_share_at_cap: float  # of tokens whose importance weight is 2 or more
    threads: int  # from here on as in EngineParts
    busy_cores: float
    read_ms_256: float
    read_ms_768: float
    draw_ms_1x256: float
    draw_ms_16x256: float
    draw_ms_16x768: float
    swap_ms: float


@dataclass(frozen=True, slots=True)
class Recorded:
    prompt: Prompt
    reply: int  # tokens


class _Wanderer:
    """The task's expert for a while, then a person who follows any link. Keeps what it was asked."""

    name = "scripted:wanderer"
    version = 0

    def __init__(self, builder: PromptBuilder, rng: random.Random) -> None:
        self.asked: list[Recorded] = []
        self._builder = builder
        self._rng = rng
        self._expert: ExpertPolicy | None = ExpertPolicy(builder.reply_format)

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        if self._rng.random() > STAYS:
            self._expert = None
        text = (await self._expert.complete(prompt, sampling)).text if self._expert else ""
        if not text or "exit(" in text:
            link = self._rng.choice([one for one in prompt.observation.elements if one.role in ("link", "button")])
            text = render(Click(link.id), f"Element: {link.role} {link.name}", self._builder.reply_format)
        reply = self._builder.reply(text)
        self.asked.append(Recorded(prompt, len(reply.ids)))
        return reply

    def forget(self, episode: str) -> None: ...

    def close(self) -> None: ...


def bench_engine(start: str, quiet: bool) -> EngineFigures:
    loaded = load_model(model_of(start))
    crowd = record(prompt_builder(Config(), loaded.tokenizer))
    with progress_bar("bench engine", 6, quiet=quiet) as ticker:
        ticker.show("recorded")
        ours = _ours(loaded, crowd)
        ticker.advance(f"our engine: {ours.seconds:.0f} s")
        generate_s, generate_mb = _timed(loaded, crowd, generate_batch)
        ticker.advance(f"transformers generate: {generate_s:.0f} s")
        few = [episode[2:3] for episode in crowd[::4]]  # it is slow: one turn of a quarter of the episodes
        continuous_s, _ = _timed(loaded, few, continuous_batch)
        ticker.advance(f"transformers continuous batching, {len(few)} turns: {continuous_s:.0f} s")
        rounded = _ours(replace(loaded, compute="bfloat16"), crowd)
        ticker.advance(f"our engine in bfloat16: {rounded.seconds:.0f} s")
        exact, inexact = _errors(loaded, crowd, ours.said), _errors(loaded, crowd, rounded.said)
        sizes = [abs(error) for error in inexact]
        ticker.advance()
        parts = measure_parts(loaded)
        ticker.advance()
    turns = sum(map(len, crowd))
    per_min, generate_per_min, continuous_per_min = (
        60 * count / taken for count, taken in ((turns, ours.seconds), (turns, generate_s), (len(few), continuous_s))
    )
    return EngineFigures(
        turns=turns,
        prompt_tokens=sum(len(turn.prompt.ids) for episode in crowd for turn in episode),
        reply_tokens=sum(len(reply.ids) for reply in ours.said),
        turns_per_min=per_min,
        baseline_generate_turns_per_min=generate_per_min,
        ratio=per_min / generate_per_min,
        baseline_continuous_turns_per_min=continuous_per_min,
        continuous_ratio=per_min / continuous_per_min,
        cache_hit_share=ours.hits,
        tokens_per_forward=ours.tokens_per_forward,
        peak_mb=ours.peak_mb,
        baseline_peak_mb=generate_mb,
        max_logprob_error=max(map(abs, exact)),
        compute=loaded.compute,
        bfloat16_turns_per_min=60 * turns / rounded.seconds,
        bfloat16_ratio=generate_s / rounded.seconds,
        bfloat16_tokens_per_forward=rounded.tokens_per_forward,
        bfloat16_mean_logprob_error=statistics.mean(sizes),
        bfloat16_p99_logprob_error=percentile(sizes, 0.99),
        bfloat16_max_logprob_error=max(sizes),
        bfloat16_share_at_cap=statistics.mean(error >= log(2) for error in inexact),
        **asdict(parts),
    )


def record(builder: PromptBuilder, seed: int = 0) -> list[list[Recorded]]:
    """What each episode's policy was asked, turn by turn, in Chromium."""
    config = Config().model_copy(update={"agent": Config().agent.model_copy(update={"max_turns": TURNS})})
    long_enough = [task for task in chosen_tasks(config, "train") if (task.expert_turns or 0) >= TURNS]
    tasks = random.Random(seed).sample(long_enough, EPISODES // GROUP)

    async def play(number: int, venue: Any) -> list[Recorded]:
        wanderer = _Wanderer(builder, random.Random(f"{seed}/{number}"))
        agent = make_agent(config, wanderer, builder, temperature=1.0, run=Path())
        await run_episode(f"episode-{number}", tasks[number // GROUP], number, agent, venue)
        return wanderer.asked

    async def play_all() -> list[list[Recorded]]:
        async with open_venue(config) as venue:
            return list(await asyncio.gather(*(play(number, venue) for number in range(EPISODES))))

    return asyncio.run(play_all())


@dataclass(frozen=True, slots=True)
class Answered:
    said: list[Completion]  # in the order of episodes and turns
    seconds: float
    peak_mb: float
    hits: float  # share of prompt tokens not computed
    tokens_per_forward: float


def _ours(loaded: LoadedModel, crowd: Sequence[Sequence[Recorded]]) -> Answered:
    engine = TorchEngine(loaded, max_rows=EPISODES)

    async def live(episode: Sequence[Recorded], seed: int) -> list[Completion]:
        return [
            await engine.complete(turn.prompt, Sampling(turn.reply, seed=seed + at)) for at, turn in enumerate(episode)
        ]

    async def live_all() -> list[list[Completion]]:
        return list(await asyncio.gather(*(live(episode, 100 * at) for at, episode in enumerate(crowd))))

    try:
        with PeakMemory() as peak:
            started = time.perf_counter()
            said = asyncio.run(live_all())
            seconds = time.perf_counter() - started
        replies = [one for episode in said for one in episode]
        return Answered(replies, seconds, peak.mb, engine.cache_hit_share, engine.tokens_per_forward)
    finally:
        engine.close()


Answer = Callable[[Any, Sequence[Recorded]], None]


def _timed(loaded: LoadedModel, crowd: Sequence[Sequence[Recorded]], answer: Answer) -> tuple[float, float]:
    """Seconds and peak memory when all episodes' first turns are answered, then all their second ones, and so on."""
    model = copy.deepcopy(loaded.model)
    model.set_attn_implementation("sdpa")
    with PeakMemory() as peak:
        started = time.perf_counter()
        for turn in range(max(map(len, crowd))):
            answer(model, [episode[turn] for episode in crowd if turn < len(episode)])
        return time.perf_counter() - started, peak.mb


def generate_batch(model: Any, turns: Sequence[Recorded]) -> None:
    """One call of `generate` for all: rows padded on the left, until the longest reply is done."""
    width, length = max(len(turn.prompt.ids) for turn in turns), max(turn.reply for turn in turns)
    ids = torch.tensor([[0] * (width - len(turn.prompt.ids)) + list(turn.prompt.ids) for turn in turns])
    mask = torch.tensor([[0] * (width - len(turn.prompt.ids)) + [1] * len(turn.prompt.ids) for turn in turns])
    options = {"do_sample": True, "max_new_tokens": length, "pad_token_id": 0}
    with torch.inference_mode():
        model.generate(input_ids=ids, attention_mask=mask, **options)


def continuous_batch(model: Any, turns: Sequence[Recorded]) -> None:
    from transformers import GenerationConfig

    length = max(turn.reply for turn in turns)
    options = GenerationConfig(do_sample=True, max_new_tokens=length, pad_token_id=0, use_cache=True)
    model.generate_batch([list(turn.prompt.ids) for turn in turns], generation_config=options, warmup=False)


@torch.no_grad()
def _errors(loaded: LoadedModel, crowd: Sequence[Sequence[Recorded]], said: Sequence[Completion]) -> list[float]:
    """Of the logprobs of some replies: those of a plain forward pass less ours, token by token."""
    asked = [turn.prompt.ids for episode in crowd for turn in episode]
    errors: list[float] = []
    for at in random.Random(0).sample(range(len(asked)), min(CHECKED, len(asked))):
        ids, reply = asked[at], said[at]
        logits = loaded.model(torch.tensor([[*ids, *reply.ids]]), logits_to_keep=len(reply.ids) + 1).logits[0, :-1]
        plain = torch.log_softmax(logits, -1)[range(len(reply.ids)), list(reply.ids)]
        errors += (plain - torch.tensor(reply.logprobs)).tolist()
    return errors
