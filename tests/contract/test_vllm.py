"""vLLM beyond the suite that all policies pass: weights that are pushed, servers that die, answers that are none.

What works is shown on real servers, and skipped where vLLM is missing; a fake one errs as no real one can be made to.
"""

from __future__ import annotations

import asyncio
import copy
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import peft
import psutil
import pytest
import torch
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from tiny import make_task
from vllm_twins import (
    CONTEXT_TOKENS,
    FakeVllm,
    Reply,
    answer,
    choice,
    model_folder,
    served_model,
    serving,
    shared_server,
    start_server,
)

from clickgrad.backends.engines import Seat
from clickgrad.backends.engines import start_server as start_server_of_run
from clickgrad.backends.policies import VllmServers, open_policy, parse_policy
from clickgrad.config import load_config
from clickgrad.errors import PolicyError, TokenLimit, UserError
from clickgrad.policy.vllm_channel import Weight
from clickgrad.policy.vllm_engine import Kind, Outlet, Push, VllmEngine, Wire
from clickgrad.policy.vllm_server import VllmServer
from clickgrad.types import Completion, Finish, Observation, Prompt, Sampling

pytestmark = pytest.mark.anyio

START_S = 900  # a server's start on a loaded machine
TOLERANCE = 1e-4
LONG = CONTEXT_TOKENS - 200  # tokens of a reply in whose middle something happens: a second and more on a fast CPU
PAGE = Observation("http://toy/", "Toy", ("a line",), ())


def prompt(episode: str = "episode", length: int = 100, first: int = 10) -> Prompt:
    return Prompt(episode, make_task(), PAGE, (), tuple(first + at % 200 for at in range(length)))


def changed(model: Any, seed: int) -> Any:
    """Another policy: every weight moved by about its own size."""
    model = copy.deepcopy(model)
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.05)
    return model


def with_adapter() -> Any:
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", bias="none")
    return peft.get_peft_model(served_model().model, config).eval()


def move_adapter(adapted: Any, seed: int) -> None:
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.add_(torch.randn_like(weight) * 0.3)


def adapter_push(adapted: Any, folder: Path) -> Push:
    return Push("adapter", lambda inside: adapted.save_pretrained(inside, save_embedding_layers=False), folder)


async def until_drawing(engine: VllmEngine) -> None:
    """Replies asked for before are under way when a short one is over: no pause would be right on every machine."""
    await engine.complete(prompt("short"), Sampling(1))


class Asking:
    """Begins a long reply when new weights are saved, so that it is under way when the servers are told of them."""

    def __init__(self, save: Callable[[Path], None]) -> None:
        self._save = save
        self._ask: Callable[[], None] = lambda: None

    def save(self, folder: Path) -> None:
        self._save(folder)
        self._ask()

    async def during_a_swap(self, engine: VllmEngine, asked: Prompt, version: int) -> asyncio.Future[Completion]:
        loop = asyncio.get_running_loop()
        begun: list[Future[Completion]] = []

        def ask() -> None:
            begun.append(asyncio.run_coroutine_threadsafe(engine.complete(asked, Sampling(LONG, seed=3)), loop))
            asyncio.run_coroutine_threadsafe(until_drawing(engine), loop).result()

        self._ask = ask
        await asyncio.to_thread(engine.swap_weights, lambda: None, version)
        assert not begun[0].done(), "the reply was over before the weights were pushed"
        return asyncio.wrap_future(begun[0])


def rounded(model: Any, dtype: torch.dtype) -> Any:
    for weight in model.parameters():
        weight.data = weight.data.to(dtype).float()
    return model


def no_files(folder: Path) -> None:
    raise AssertionError("nothing was to be written")


@torch.no_grad()
def plain_logprobs(model: Any, asked: Prompt, said: Completion, temperature: float = 1.0) -> torch.Tensor:
    """Of the reply's tokens, by a forward pass over all ids at once."""
    logits = model(input_ids=torch.tensor([asked.ids + said.ids])).logits[0, len(asked.ids) - 1 : -1]
    every = torch.log_softmax(logits.float() / (temperature or 1.0), -1)
    return every.gather(1, torch.tensor(said.ids)[:, None])[:, 0]


def worst(model: Any, asked: Prompt, said: Completion, temperature: float = 1.0) -> float:
    return float((plain_logprobs(model, asked, said, temperature) - torch.tensor(said.logprobs)).abs().max())


async def widest_gap(engine: VllmEngine, model: Any) -> float:
    """Between sampler and plain forward, over temperatures, prompts that begin alike, and several at once."""
    kinds = [Sampling(16, temperature, seed=seed) for temperature in (0.0, 0.7, 1.0, 2.0) for seed in range(4)]
    asked = [prompt(f"gap-{at}", 70 + 20 * at) for at in range(len(kinds))]
    said = await asyncio.gather(*(engine.complete(one, kind) for one, kind in zip(asked, kinds, strict=True)))
    return max(worst(model, one, reply, kind.temperature) for one, reply, kind in zip(asked, said, kinds, strict=True))


# --- real servers ---


@pytest.fixture(scope="module")
def server() -> VllmServer:
    return shared_server()


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmServer]:
    """One that takes adapters. The last test ends it."""
    started = start_server(tmp_path_factory.mktemp("vllm") / "vllm.log", lora_rank=4)
    yield started
    started.end()


@pytest.mark.timeout(START_S)
async def test_weights_pushed_twice_are_followed_by_outputs_versions_and_logprobs(
    server: VllmServer, tmp_path: Path
) -> None:
    trained = served_model().model
    greedy = Sampling(12, temperature=0.0)
    said: list[Completion] = []
    engine = VllmEngine([server.url], push=Push("full", lambda folder: trained.save_pretrained(folder), tmp_path))
    try:
        for version in (1, 2, 3):
            engine.swap_weights(lambda: None, version)
            said.append(await engine.complete(prompt(), greedy))  # its beginning was cached under the old weights
            assert (said[-1].policy_version, engine.version) == (version, version)
            gap = await widest_gap(engine, trained)
            print(f"version {version}: widest logprob gap {gap:.1e}")
            assert gap < TOLERANCE
            trained = changed(trained, version)
        assert len({one.ids for one in said}) == 3
        assert engine.cache_hit_share > 0.3
        assert not os.listdir(tmp_path), "what was pushed is removed"
    finally:
        engine.close()


@pytest.mark.timeout(START_S)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
async def test_weights_sent_twice_straight_to_the_server_are_followed(
    server: VllmServer, tmp_path: Path, dtype: torch.dtype
) -> None:
    """Through vLLM's own weight-transfer endpoints, by gloo; no file is written."""
    trained = rounded(changed(served_model().model, 11), dtype)

    def outline() -> list[Weight]:
        name = str(dtype).removeprefix("torch.")
        return [Weight(key, name, tuple(value.shape)) for key, value in trained.named_parameters()]

    def send(outlet: Outlet) -> None:
        for value in trained.parameters():
            outlet(value.detach().to(dtype))

    engine = VllmEngine([server.url], push=Push("full", no_files, tmp_path, Wire("gloo", outline, send)))
    said: list[Completion] = []
    try:
        for version in (1, 2):
            engine.swap_weights(lambda: None, version)
            said.append(await engine.complete(prompt(), Sampling(12, temperature=0.0)))
            assert (said[-1].policy_version, engine.version) == (version, version)
            gap = await widest_gap(engine, trained)
            print(f"version {version} in {dtype}: widest logprob gap {gap:.1e}")
            assert gap < TOLERANCE
            trained = rounded(changed(trained, version), dtype)
        assert said[0].logprobs != said[1].logprobs
    finally:
        engine.close()


@pytest.mark.timeout(START_S)
async def test_a_reply_under_way_goes_on_with_pushed_weights_and_carries_the_older_version(
    server: VllmServer, tmp_path: Path
) -> None:
    old = served_model().model
    new = changed(old, 5)
    weights = [old, new]
    asking = Asking(lambda folder: weights.pop(0).save_pretrained(folder))
    endless = served_model().tokenizer
    endless.end_ids = ()  # a reply is under way for long
    engine = VllmEngine([server.url], endless, push=Push("full", asking.save, tmp_path))
    try:
        engine.swap_weights(lambda: None, 1)
        asked = prompt()
        reply = await asking.during_a_swap(engine, asked, 2)
        said = await reply
        assert said.policy_version == 1
        found = torch.tensor(said.logprobs)
        by_old = (plain_logprobs(old, asked, said) - found).abs() < TOLERANCE
        by_new = (plain_logprobs(new, asked, said) - found).abs() < TOLERANCE
        assert bool(by_old[0])
        assert bool(by_new[-1]), "with keys and values computed anew"
        assert bool((by_old | by_new).all())
        assert (await engine.complete(asked, Sampling(4))).policy_version == 2
    finally:
        engine.close()


@pytest.mark.timeout(START_S)
async def test_an_adapter_pushed_twice_is_followed(second: VllmServer, tmp_path: Path) -> None:
    adapted = with_adapter()
    engine = VllmEngine([second.url], push=adapter_push(adapted, tmp_path))
    said = []
    try:
        for version in (0, 1, 2, 3):
            engine.swap_weights(lambda: None, version)
            said.append(await engine.complete(prompt(), Sampling(12, temperature=0.0)))
            assert said[-1].policy_version == version
            gap = await widest_gap(engine, adapted)
            print(f"adapter {version}: widest logprob gap {gap:.1e}")
            assert gap < TOLERANCE
            move_adapter(adapted, version)
        assert len({one.ids for one in said}) == 4
    finally:
        engine.close()


@pytest.mark.timeout(START_S)
async def test_a_reply_under_way_keeps_the_adapter_it_began_with(second: VllmServer, tmp_path: Path) -> None:
    adapted = with_adapter()
    endless = served_model().tokenizer
    endless.end_ids = ()
    push = adapter_push(adapted, tmp_path)
    asking = Asking(push.save)
    engine = VllmEngine([second.url], endless, push=replace(push, save=asking.save))
    try:
        move_adapter(adapted, 7)
        engine.swap_weights(lambda: None, 1)
        old, asked = copy.deepcopy(adapted), prompt()
        move_adapter(adapted, 8)
        reply = await asking.during_a_swap(engine, asked, 2)
        beside = await engine.complete(asked, Sampling(16))
        said = await reply
        assert (said.policy_version, beside.policy_version) == (1, 2)
        assert worst(old, asked, said) < TOLERANCE
        assert worst(adapted, asked, beside) < TOLERANCE
    finally:
        engine.close()


@pytest.mark.timeout(START_S)
async def test_when_a_server_dies_its_episodes_go_on_elsewhere_and_nothing_is_made_up(
    server: VllmServer, second: VllmServer
) -> None:
    both, alone = VllmEngine([server.url, second.url]), VllmEngine([second.url])
    try:
        long = Sampling(LONG, seed=1)
        episodes = [prompt(f"episode-{number}") for number in range(4)]
        started = [asyncio.create_task(both.complete(one, long)) for one in episodes]
        last = asyncio.create_task(alone.complete(prompt("last"), long))
        await until_drawing(alone)
        await asyncio.to_thread(httpx.post, f"{second.url}/pause", params={"mode": "keep"})
        await asyncio.to_thread(second.end)
        said = await asyncio.gather(*started)
        assert all(len(one.ids) == LONG or one.finish is Finish.STOP for one in said)
        with pytest.raises(PolicyError, match="no vLLM server gave an answer"):
            await last
        assert (await both.complete(prompt("new"), Sampling(4))).ids
    finally:
        both.close()
        alone.close()


@pytest.mark.timeout(START_S)
def test_a_server_that_cannot_start_says_why_and_leaves_nothing_behind(server: VllmServer, tmp_path: Path) -> None:
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    broken = VllmServer(str(model_folder()), tmp_path / "log", dtype="float32", options=["--no-such-option"])
    with pytest.raises(PolicyError, match=r"ended while starting: .*no-such-option"):
        broken.__enter__()
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


# --- everywhere ---


def test_a_kept_process_ends_with_its_owner_even_if_that_is_killed(tmp_path: Path) -> None:
    """The owner starts a keeper as VllmServer does, whose command has a child of its own, and is killed."""
    pids = tmp_path / "pids"
    command = f"sleep 600 & echo $! $$ > {pids}.part; mv {pids}.part {pids}; wait"
    owner = (
        "import subprocess, sys, time\n"
        f"words = [sys.executable, '-m', 'clickgrad.policy.vllm_server', 'bash', '-c', {command!r}]\n"
        "keeper = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)\n"
        "time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", owner]) as owning:
        for _ in range(600):
            if pids.exists() or owning.poll() is not None:
                break
            time.sleep(0.1)
        kept = [psutil.Process(int(pid)) for pid in pids.read_text().split()]
        os.kill(owning.pid, signal.SIGKILL)
    _, alive = psutil.wait_procs(kept, timeout=60)
    assert not alive


def engine_on(urls: list[str], folder: Path | None = None, kind: Kind = "full", most_tokens: int = 0) -> VllmEngine:
    push = Push(kind, lambda inside: None, folder) if folder else None
    return VllmEngine(urls, served_model().tokenizer, push=push, most_tokens=most_tokens)


GARBAGE: dict[str, Reply] = {
    "status 500": lambda fake, body: PlainTextResponse("out of memory", 500),
    "a web page": lambda fake, body: HTMLResponse("<html>"),
    "no answer at all": lambda fake, body: JSONResponse({"usage": {"prompt_tokens": 1}}),
    "two answers": lambda fake, body: answer(choice([7, 7]), choice([7, 7])),
    "an empty reply": lambda fake, body: answer(choice([])),
    "logprobs of other tokens": lambda fake, body: answer(choice([7, 7]) | {"token_ids": [7, 8]}),
    "a token that cannot be": lambda fake, body: answer(
        choice([7, 7], logprobs={"content": [{"token_id": 7, "logprob": -9999.0}] * 2})
    ),
    "an aborted reply": lambda fake, body: answer(choice([7, 7], finish="abort")),
    "a reply cut too early": lambda fake, body: answer(choice([7])),
    "a stop without an end": lambda fake, body: answer(choice([7, 7], finish="stop")),
}


@pytest.mark.parametrize("kind", GARBAGE)
async def test_what_is_no_answer_is_never_a_completion_and_another_server_is_asked(kind: str) -> None:
    bad, good = FakeVllm(7, GARBAGE[kind]), FakeVllm(8)
    with serving(bad, good) as urls:
        engine, alone = engine_on(urls), engine_on(urls[:1])
        try:
            said = await engine.complete(prompt(), Sampling(2))
            assert (said.ids, said.finish, bad.asked) == ((8, 8), Finish.LENGTH, 1)
            assert (await engine.complete(prompt(), Sampling(2))).ids == (8, 8)
            assert bad.asked == 1, "the episode has moved"
            with pytest.raises(PolicyError, match=rf"\(1 asked\): {bad.url}"):
                await alone.complete(prompt(), Sampling(2))
        finally:
            engine.close()
            alone.close()


async def test_episodes_are_spread_and_each_stays_where_it_is() -> None:
    with serving(FakeVllm(7), FakeVllm(8)) as urls:
        engine = engine_on(urls)
        try:
            homes: dict[int, tuple[int, ...]] = {}
            for turn in range(3):
                for number in range(4):
                    said = await engine.complete(prompt(f"episode-{number}"), Sampling(1))
                    assert homes.setdefault(number, said.ids) == said.ids, turn
            assert sorted(homes.values()) == [(7,), (7,), (8,), (8,)]
        finally:
            engine.close()


async def test_where_weights_cannot_go_straight_they_go_by_files(tmp_path: Path) -> None:
    """A fake server joins nothing: it says that it has no such endpoint."""
    written: list[Path] = []
    fake = FakeVllm(7)
    with serving(fake) as urls:
        push = Push("full", written.append, tmp_path, Wire("gloo", list, lambda outlet: None))
        engine = VllmEngine(urls, served_model().tokenizer, push=push)
        try:
            engine.swap_weights(lambda: None, 1)
            assert (await engine.complete(prompt(), Sampling(1))).policy_version == 1
            assert len(written) == 1
            assert "/collective_rpc" in fake.calls
        finally:
            engine.close()


def wired(weights: list[torch.Tensor], written: list[Path], folder: Path) -> Push:
    outline = [
        Weight(str(at), str(one.dtype).removeprefix("torch."), tuple(one.shape)) for at, one in enumerate(weights)
    ]

    def send(outlet: Outlet) -> None:
        for weight in weights:
            outlet(weight)

    return Push("full", written.append, folder, Wire("gloo", lambda: outline, send))


async def test_weights_go_straight_to_every_server_that_joins_and_by_files_to_the_others(tmp_path: Path) -> None:
    fakes, written = [FakeVllm(7), FakeVllm(8), FakeVllm(9)], list[Path]()
    fakes[0].joins = fakes[1].joins = True
    weights = [torch.arange(6.0).reshape(2, 3), torch.tensor([0.3, -2.0]).to(torch.bfloat16)]
    with serving(*fakes) as urls:
        engine = VllmEngine(urls, served_model().tokenizer, push=wired(weights, written, tmp_path))
        try:
            for version in (1, 2):
                engine.swap_weights(lambda: None, version)
                for fake in fakes[:2]:
                    assert [one.dtype for one in fake.received] == [torch.float32, torch.bfloat16]
                    assert all(torch.equal(one, other) for one, other in zip(fake.received, weights, strict=True))
                assert [fake.label for fake in fakes] == [str(version)] * 3
                assert ("/collective_rpc" in fakes[0].calls, fakes[2].calls.count("/collective_rpc")) == (
                    False,
                    version,
                )
            assert len(written) == 2
        finally:
            engine.close()


async def test_a_server_that_breaks_off_while_weights_are_sent_is_left_out_and_then_given_files(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken, good, written = FakeVllm(7), FakeVllm(8), list[Path]()
    broken.joins = good.joins = True
    broken.breaks_after = 1
    weights = [torch.full((300_000,), float(at)) for at in range(6)]  # more than a connection holds
    with serving(broken, good) as urls:
        engine = VllmEngine(urls, served_model().tokenizer, push=wired(weights, written, tmp_path))
        try:
            await asyncio.to_thread(engine.swap_weights, lambda: None, 1)
            assert "is left out until the next push" in caplog.text
            assert len(good.received) == len(weights)
            assert all(torch.equal(one, other) for one, other in zip(good.received, weights, strict=True))
            said = [await engine.complete(prompt(f"first-{number}"), Sampling(1)) for number in range(3)]
            assert {(one.ids, one.policy_version) for one in said} == {((8,), 1)}
            await asyncio.to_thread(engine.swap_weights, lambda: None, 2)
            assert (len(written), broken.label, good.label) == (1, "2", "2")
        finally:
            engine.close()


async def test_a_server_started_anew_after_a_push_is_not_taken_for_the_policy(tmp_path: Path) -> None:
    fake = FakeVllm(7)
    with serving(fake) as urls:
        engine = engine_on(urls, tmp_path)
        try:
            engine.swap_weights(lambda: None, 4)
            assert (await engine.complete(prompt(), Sampling(1))).policy_version == 4
            fake.label = "default"
            with pytest.raises(PolicyError, match="instead of version 4"):
                await engine.complete(prompt(), Sampling(1))
            with pytest.raises(PolicyError, match="lost the policy's weights"):
                await engine.complete(prompt(), Sampling(1))
            engine.swap_weights(lambda: None, 5)
            assert (await engine.complete(prompt(), Sampling(1))).policy_version == 5
        finally:
            engine.close()


async def test_a_server_that_does_not_take_the_weights_is_left_out_until_it_does(tmp_path: Path) -> None:
    stubborn, good = FakeVllm(7), FakeVllm(8)
    with serving(stubborn, good) as urls:
        engine = engine_on(urls, tmp_path)
        try:
            stubborn.takes_weights = False
            engine.swap_weights(lambda: None, 1)
            said = [await engine.complete(prompt(f"first-{number}"), Sampling(1)) for number in range(4)]
            assert {(one.ids, one.policy_version) for one in said} == {((8,), 1)}
            assert (stubborn.calls[-1], stubborn.paused) == ("/resume", False)
            for number in range(4):
                engine.forget(f"first-{number}")
            stubborn.takes_weights = True
            engine.swap_weights(lambda: None, 2)
            said = [await engine.complete(prompt(f"second-{number}"), Sampling(1)) for number in range(4)]
            assert {one.ids for one in said} == {(7,), (8,)}
            stubborn.takes_weights = good.takes_weights = False
            with pytest.raises(PolicyError, match="no vLLM server took the weights of version 3"):
                engine.swap_weights(lambda: None, 3)
            assert engine.version == 2
        finally:
            engine.close()


@pytest.mark.parametrize("sleeps", [True, False])
async def test_servers_that_share_their_gpus_sleep_until_they_are_given_new_weights(
    tmp_path: Path, sleeps: bool
) -> None:
    fakes = FakeVllm(7), FakeVllm(8)
    with serving(*fakes) as urls:
        push = Push("full", lambda inside: None, tmp_path)
        engine = VllmEngine(urls, served_model().tokenizer, push=push, sleeps=sleeps)
        try:
            engine.rest()
            assert [fake.calls for fake in fakes] == ([["/sleep"]] * 2 if sleeps else [[], []])
            engine.swap_weights(lambda: None, 1)
            for fake in fakes:
                assert fake.calls[1:3] == ["/wake_up", "/pause"] if sleeps else fake.calls[0] == "/pause"
            assert (await engine.complete(prompt(), Sampling(1))).policy_version == 1
        finally:
            engine.close()


async def test_what_half_loaded_weights_sample_is_never_a_completion(tmp_path: Path) -> None:
    """The server goes on after the failure, so nobody waits for ever; what it was answering is asked elsewhere."""
    stubborn, good = FakeVllm(7), FakeVllm(8)
    with serving(stubborn, good) as urls:
        engine, alone = engine_on(urls, tmp_path), engine_on(urls[:1], tmp_path)
        try:
            for one in (engine, alone):
                one.swap_weights(lambda: None, 1)
            stubborn.takes_weights = False
            stubborn.free.clear()
            under_way = [asyncio.create_task(one.complete(prompt(), Sampling(1))) for one in (engine, alone)]
            for _ in under_way:
                await asyncio.to_thread(stubborn.queued.get, timeout=30)
            await asyncio.to_thread(engine.swap_weights, lambda: None, 2)
            with pytest.raises(PolicyError, match=r"no vLLM server took the weights of version 2: .*out of memory"):
                await asyncio.to_thread(alone.swap_weights, lambda: None, 2)
            stubborn.free.set()
            said = await asyncio.wait_for(under_way[0], 30)
            assert (said.ids, said.policy_version) == ((8,), 2)
            with pytest.raises(PolicyError, match="failed to load weights while it was answering"):
                await asyncio.wait_for(under_way[1], 30)
        finally:
            engine.close()
            alone.close()


async def test_a_server_that_cannot_be_resumed_is_told_with_what_came_first(tmp_path: Path) -> None:
    fake = FakeVllm()
    with serving(fake) as urls:
        engine = engine_on(urls, tmp_path)
        fake.takes_weights = fake.resumes = False
        with pytest.raises(PolicyError, match=r"out of memory; and it may still be paused: .*/resume: status 500"):
            engine.swap_weights(lambda: None, 1)
        fake.resumes = True
        engine.close()
        assert not fake.paused, "a last try, on closing"


def token_of_adapter(fake: FakeVllm, body: dict[str, Any]) -> Response:
    """Adapters are called version-<n>-...: the token is 100 + n, the label the server's as it is now."""
    version = int(body["model"].split("-")[1])
    return answer(choice([100 + version] * body["sampling_params"]["max_tokens"], fake.label))


@pytest.mark.parametrize("takes", [True, False])
async def test_a_request_queued_with_an_adapter_carries_that_adapters_version(tmp_path: Path, takes: bool) -> None:
    fake = FakeVllm(reply=token_of_adapter)
    with serving(fake) as urls:
        engine = engine_on(urls, tmp_path, "adapter")
        try:
            engine.swap_weights(lambda: None, 1)
            fake.takes_weights = takes
            fake.free.clear()
            queued = asyncio.create_task(engine.complete(prompt("queued"), Sampling(1)))
            await asyncio.to_thread(fake.queued.get, timeout=30)
            pushed = asyncio.create_task(asyncio.to_thread(engine.swap_weights, lambda: None, 2))
            await asyncio.wait([pushed])
            assert (pushed.exception() is None) == takes
            fake.free.set()
            said = await asyncio.wait_for(queued, 30)
            assert (said.ids, said.policy_version) == ((101,), 1)
            if takes:
                said = await engine.complete(prompt("new"), Sampling(1))
                assert (said.ids, said.policy_version) == ((102,), 2)
        finally:
            engine.close()


async def test_the_users_context_is_kept_with_vllm(tmp_path: Path) -> None:
    with serving(FakeVllm()) as urls:
        config = load_config(None, ["model.context_tokens=512"], "evaluate")
        with (
            open_policy(VllmServers((urls[0],)), config) as (policy, _),
            pytest.raises(TokenLimit, match="510 tokens and a reply of 3 exceed the context of 512"),
        ):
            await policy.complete(prompt(length=510), Sampling(3))
        with pytest.raises(
            UserError, match=rf"model.context_tokens={CONTEXT_TOKENS + 1}: vllm:.* has a context of {CONTEXT_TOKENS}"
        ):
            engine_on(urls, most_tokens=CONTEXT_TOKENS + 1)
    options = ["model.context_tokens=512", "reinforce.engine=vllm"]
    command = start_server_of_run(
        load_config(None, options, "reinforce"), str(model_folder()), tmp_path / "log"
    ).command
    assert command[command.index("--max-model-len") + 1] == "512"
    assert "--max-model-len" not in VllmServer(str(model_folder()), tmp_path / "log", dtype="float32").command


def test_a_server_knows_its_gpu_and_nothing_of_the_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    config = load_config(None, ["reinforce.engine=vllm"], "reinforce")
    started = start_server_of_run(config, str(model_folder()), tmp_path / "log", Seat("5", 0.42, sleeps=True))
    assert started.environment["CUDA_VISIBLE_DEVICES"] == "5"
    assert not {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "OMP_NUM_THREADS"} & set(
        started.environment
    )
    assert started.command[started.command.index("--gpu-memory-utilization") + 1] == "0.42"
    assert "--enable-sleep-mode" in started.command


async def test_a_prompt_that_does_not_fit_is_refused() -> None:
    with serving(FakeVllm()) as urls:
        engine = engine_on(urls)
        try:
            length = CONTEXT_TOKENS - 4
            with pytest.raises(
                TokenLimit, match=f"{length} tokens and a reply of 8 exceed the context of {CONTEXT_TOKENS}"
            ):
                await engine.complete(prompt(length=length), Sampling(8))
            with pytest.raises(PolicyError, match="without weights to push"):
                engine.swap_weights(lambda: None, 1)
        finally:
            engine.close()


async def test_the_command_line_names_servers_by_their_urls_and_takes_the_tokenizer_they_serve() -> None:
    with serving(FakeVllm(7), FakeVllm(8)) as urls:
        spec = f"vllm:{','.join(urls)}"
        with open_policy(parse_policy(spec), load_config(None, [], "evaluate")) as (policy, builder):
            said = await policy.complete(builder.prompt("a", make_task(), (), PAGE), Sampling(2))
            assert (policy.name, said.ids) == (spec, (7, 7))


def forbidden(fake: FakeVllm, body: dict[str, Any]) -> Response:
    return JSONResponse({"error": {"message": "Scale-out endpoints are disabled."}}, 403)


async def test_servers_that_are_none_of_ours_are_refused_in_one_line() -> None:
    raw = FakeVllm()
    raw.raw_logprobs = True
    with serving(raw, FakeVllm(reply=forbidden)) as urls:
        with pytest.raises(UserError, match=r"ignores the temperature in its logprobs: start it with .*processed"):
            engine_on(urls[:1])
        engine = engine_on(urls[1:])
        with pytest.raises(UserError, match=r"Scale-out endpoints are disabled.*--enable-scale-out"):
            await engine.complete(prompt(), Sampling(2))
        engine.close()
    with pytest.raises(UserError, match=r"no vLLM server to work with: .*Connect"):
        engine_on(urls[:1])
    with pytest.raises(UserError, match="names no server"):
        engine_on(["localhost:8000"])
