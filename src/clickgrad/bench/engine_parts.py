"""What the torch engine's parts cost: reading a prompt, drawing a token for many rows, new weights. `plan` reckons so.

Prompts are random ids: what they say changes nothing about the time they take. An engine that knows a prompt does not
read it again, so the same prompts asked once for one token and then for many tell reading and drawing apart.
"""

from __future__ import annotations

import asyncio
import copy
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from clickgrad.policy.models import ChatTokenizer, LoadedModel
from clickgrad.policy.torch_engine import TorchEngine
from clickgrad.types import Observation, Prompt, Sampling, Task

DRAWN = 24  # tokens
TASK = Task("bench", "bench", "test", (), "bench", "", "", ())
PAGE = Observation("", "", (), ())


@dataclass(frozen=True, slots=True)
class EngineParts:
    threads: int  # of torch
    busy_cores: float  # that they keep busy in the mean
    read_ms_256: float  # a prompt of so many tokens
    read_ms_768: float
    draw_ms_1x256: float  # a token for 1 row, each with a prompt of 256
    draw_ms_16x256: float
    draw_ms_16x768: float
    swap_ms: float  # until new weights serve


def measure_parts(loaded: LoadedModel) -> EngineParts:
    engine = TorchEngine(replace(loaded, tokenizer=endless(loaded.tokenizer)), max_rows=16)
    try:
        _measure(engine, rows=2, tokens=64)  # warm
        started, before = time.perf_counter(), time.process_time()
        _, draw_1x256 = _measure(engine, rows=1, tokens=256)
        read_256, draw_16x256 = _measure(engine, rows=16, tokens=256)
        read_768, draw_16x768 = _measure(engine, rows=16, tokens=768)
        busy = (time.process_time() - before) / (time.perf_counter() - started)
        started = time.perf_counter()
        engine.swap_weights(lambda: None, 1)
        swap = 1000 * (time.perf_counter() - started)
    finally:
        engine.close()
    return EngineParts(torch.get_num_threads(), busy, read_256, read_768, draw_1x256, draw_16x256, draw_16x768, swap)


def _measure(engine: TorchEngine, rows: int, tokens: int) -> tuple[float, float]:
    """Milliseconds of reading one prompt and of drawing one token for all rows."""
    rng = random.Random(f"{rows}/{tokens}")
    prompts = [tuple(rng.randrange(100, 40_000) for _ in range(tokens)) for _ in range(rows)]
    reading = _answer_all(engine, prompts, 1)
    drawing = _answer_all(engine, prompts, DRAWN) / DRAWN
    return 1000 * (reading - drawing) / rows, 1000 * drawing


def _answer_all(engine: TorchEngine, prompts: Sequence[tuple[int, ...]], drawn: int) -> float:
    async def ask() -> None:
        await asyncio.gather(
            *(
                engine.complete(Prompt(f"{at}", TASK, PAGE, (), ids), Sampling(drawn, seed=at))
                for at, ids in enumerate(prompts)
            )
        )

    started = time.perf_counter()
    asyncio.run(ask())
    return time.perf_counter() - started


def endless(tokenizer: ChatTokenizer) -> ChatTokenizer:
    """No token ends a reply: its length is the one asked for."""
    endless = copy.copy(tokenizer)
    endless.end_ids = ()
    return endless
