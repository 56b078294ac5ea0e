from __future__ import annotations

import asyncio
import copy
import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from tiny import make_task, tiny_model, tiny_tokenizer

from clickgrad.errors import PolicyError, TokenLimit, UserError
from clickgrad.policy.models import LoadedModel
from clickgrad.policy.torch_engine import TorchEngine
from clickgrad.types import Completion, Finish, Observation, Prompt, Sampling

pytestmark = pytest.mark.anyio


@pytest.fixture
def loaded() -> LoadedModel:
    return tiny_model(tiny_tokenizer(["some text"]), context_tokens=256)


@pytest.fixture
def engine(loaded: LoadedModel) -> Iterator[TorchEngine]:
    engine = TorchEngine(loaded, max_rows=4, cache_tokens=200)
    yield engine
    engine.close()


def ask(ids: list[int]) -> Prompt:
    return Prompt("e", make_task(), Observation("http://toy/", "", (), ()), (), tuple(ids))


def prompt_ids(length: int, seed: int = 0) -> list[int]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(10, 250, (length,), generator=generator).tolist()


def worst_error(loaded: LoadedModel, ids: list[int], completion: Completion, temperature: float = 1.0) -> float:
    """The engine's logprobs against a plain forward pass over the same ids."""
    with torch.no_grad():  # not inference mode, in which an engine puts its own arithmetic under the model
        logits = loaded.model(torch.tensor([[*ids, *completion.ids]])).logits[0]
    plain = torch.log_softmax(logits / temperature, -1)
    places = range(len(ids) - 1, len(ids) - 1 + len(completion.ids))
    expected = [float(plain[place, token]) for place, token in zip(places, completion.ids, strict=True)]
    return max(abs(a - b) for a, b in zip(expected, completion.logprobs, strict=True))


async def test_logprobs_equal_a_plain_forward_pass_in_a_crowd(engine: TorchEngine, loaded: LoadedModel) -> None:
    """More requests than rows, of many lengths, sharing beginnings, with a cache too small for all of them."""
    trunk = prompt_ids(40)
    prompts = [trunk[: 5 + 3 * n] + prompt_ids(n % 4, seed=n) for n in range(12)]
    replies = await asyncio.gather(
        *(engine.complete(ask(ids), Sampling(4 + n, seed=n)) for n, ids in enumerate(prompts))
    )
    assert max(worst_error(loaded, ids, reply) for ids, reply in zip(prompts, replies, strict=True)) < 1e-4
    assert 0.2 < engine.cache_hit_share < 1


async def test_the_engine_says_where_its_time_went_since_it_was_last_asked(engine: TorchEngine) -> None:
    await engine.complete(ask(prompt_ids(40)), Sampling(8))
    engine.close()  # its thread looks at the clock after it has answered
    spent = engine.figures()
    assert spent["engine_s"] > 0
    assert 1 <= spent["passes"] <= 8
    assert spent["tokens_per_forward"] == 8 / spent["passes"]
    assert (engine.figures()["engine_s"], engine.figures()["passes"]) == (0.0, 0.0)


async def test_greedy_equals_generate_token_by_token_on_two_hundred_prompts(loaded: LoadedModel) -> None:
    engine = TorchEngine(loaded, max_rows=16, cache_tokens=500)
    prompts = [prompt_ids(20, seed) for seed in range(200)]
    replies = await asyncio.gather(*(engine.complete(ask(ids), Sampling(12, temperature=0)) for ids in prompts))
    engine.close()
    whole = loaded.model.generate(
        torch.tensor(prompts), attention_mask=torch.ones(200, 20), max_new_tokens=12, do_sample=False, pad_token_id=0
    )
    for reply, row in zip(replies, whole[:, 20:].tolist(), strict=True):
        assert list(reply.ids) == row[: len(reply.ids)]
        assert len(reply.ids) == 12 or reply.finish is Finish.STOP


async def test_temperature_is_part_of_the_logprobs(engine: TorchEngine, loaded: LoadedModel) -> None:
    ids = prompt_ids(10)
    reply = await engine.complete(ask(ids), Sampling(6, temperature=0.5, seed=3))
    assert worst_error(loaded, ids, reply, temperature=0.5) < 1e-4


async def test_a_seed_decides_the_reply_and_another_one_another(engine: TorchEngine) -> None:
    prompt = ask(prompt_ids(10))
    replies = [await engine.complete(prompt, Sampling(12, seed=seed)) for seed in (1, 1, 2)]
    assert replies[0].ids == replies[1].ids != replies[2].ids


async def test_a_reply_ends_with_the_end_token_or_at_the_limit(engine: TorchEngine, loaded: LoadedModel) -> None:
    end = loaded.tokenizer.end_ids[0]
    replies = await asyncio.gather(
        *(engine.complete(ask(prompt_ids(6, seed)), Sampling(60, temperature=3.0, seed=seed)) for seed in range(40))
    )
    for reply in replies:
        assert end not in reply.ids[:-1]
        assert (reply.finish is Finish.STOP) == (reply.ids[-1] == end)
        assert reply.finish is Finish.STOP or len(reply.ids) == 60
    assert {reply.finish for reply in replies} == {Finish.STOP, Finish.LENGTH}


async def test_new_weights_void_what_the_old_ones_computed(engine: TorchEngine, loaded: LoadedModel) -> None:
    ids = prompt_ids(30)
    before = await engine.complete(ask(ids), Sampling(8, seed=1))
    with torch.no_grad():
        for parameter in loaded.model.parameters():
            parameter.mul_(1.3)
    engine.swap_weights(lambda: None, 7)
    after = await engine.complete(ask(ids), Sampling(8, seed=1))
    assert (before.policy_version, after.policy_version) == (0, 7)
    assert worst_error(loaded, ids, after) < 1e-4


@torch.no_grad()
def mixed_logprobs(old: Any, new: Any, ids: list[int], reply: Sequence[int], by_old: int) -> list[float]:
    """Of a reply whose first `by_old` tokens the old weights drew: the new ones go on from the old keys and values."""
    read = [*ids, *reply[: by_old - 1]]
    start = old(torch.tensor([read]), use_cache=True)
    rest = new(torch.tensor([reply[by_old - 1 : -1]]), past_key_values=start.past_key_values, use_cache=True)
    logits = torch.cat([start.logits[0, len(ids) - 1 :], rest.logits[0]])
    return torch.log_softmax(logits, -1).gather(1, torch.tensor(reply)[:, None])[:, 0].tolist()


async def test_weights_swapped_between_tokens_drop_no_request(engine: TorchEngine, loaded: LoadedModel) -> None:
    """Tokens before the swap have the old weights' logprobs, those after it the new ones'; the reply is old."""
    ids = prompt_ids(12)
    old = copy.deepcopy(loaded.model)
    passes, is_under_way = 0, threading.Event()

    def count(*_: object) -> None:
        nonlocal passes
        passes += 1
        if passes == 9:
            is_under_way.set()

    hook = loaded.model.register_forward_hook(count)
    under_way = [asyncio.create_task(engine.complete(ask(ids), Sampling(200, seed=n))) for n in range(3)]
    await asyncio.to_thread(is_under_way.wait, 30)

    def change() -> None:
        for parameter in loaded.model.parameters():
            parameter.mul_(1.2)

    engine.swap_weights(change, 3)
    hook.remove()
    replies = [await task for task in under_way]
    assert {reply.policy_version for reply in replies} == {0}
    for reply in replies:
        by_old = mixed_logprobs(old, old, ids, reply.ids, len(reply.ids) // 2)
        gaps = [abs(one - other) for one, other in zip(by_old, reply.logprobs, strict=True)]
        swapped = next(place for place, gap in enumerate(gaps) if gap > 1e-3)
        assert 5 <= swapped < len(reply.ids)
        assert max(gaps[:swapped]) < 1e-4
        expected = mixed_logprobs(old, loaded.model, ids, reply.ids, swapped)
        assert reply.logprobs == pytest.approx(expected, abs=1e-4)
    after = await engine.complete(ask(ids), Sampling(8, seed=9))
    assert after.policy_version == 3
    assert worst_error(loaded, ids, after) < 1e-4


async def test_a_swap_that_fails_is_told_to_who_asked_for_it(engine: TorchEngine) -> None:
    with pytest.raises(PolicyError, match=r"putting new weights in place: .*no such weights"):
        engine.swap_weights(lambda: (_ for _ in ()).throw(RuntimeError("no such weights")), 3)
    assert (await engine.complete(ask(prompt_ids(5)), Sampling(4))).policy_version == 0


async def test_a_cancelled_neighbour_disturbs_nobody(engine: TorchEngine, loaded: LoadedModel) -> None:
    ids = prompt_ids(12)
    doomed = [asyncio.create_task(engine.complete(ask(prompt_ids(9, n)), Sampling(200, seed=n))) for n in range(3)]
    kept = asyncio.create_task(engine.complete(ask(ids), Sampling(30, seed=5)))
    await asyncio.sleep(0.01)
    for task in doomed:
        task.cancel()
    assert worst_error(loaded, ids, await kept) < 1e-4


async def test_a_prompt_that_does_not_fit_is_a_token_limit(engine: TorchEngine) -> None:
    with pytest.raises(TokenLimit, match="250 tokens and a reply of 10 exceed the context of 256"):
        await engine.complete(ask(prompt_ids(250)), Sampling(10))


@pytest.mark.parametrize("temperature", [0.0, 1.0])
async def test_a_failing_model_fails_its_requests_and_the_engine_lives_on(
    engine: TorchEngine, loaded: LoadedModel, temperature: float
) -> None:
    healthy = {name: value.clone() for name, value in loaded.model.state_dict().items()}
    engine.swap_weights(lambda: loaded.model.model.norm.weight.fill_(math.nan), 1)
    with pytest.raises(PolicyError, match=r"logprob nan|sampling: RuntimeError: .*nan"):
        await engine.complete(ask(prompt_ids(5)), Sampling(4, temperature))
    engine.swap_weights(lambda: loaded.model.load_state_dict(healthy), 2)
    assert (await engine.complete(ask(prompt_ids(5)), Sampling(4, temperature))).policy_version == 2


UNSERVABLE: dict[str, tuple[list[int], Sampling]] = {
    "no tokens": ([], Sampling(4)),
    "one token": ([5], Sampling(4)),
    "an unknown token": ([5, 10_000_000, 5], Sampling(4)),
    "an unknown last token": ([5, 5, 10_000_000], Sampling(4)),
    "a token below zero": ([5, -1, 5], Sampling(4)),
    "no room for a token": ([5, 5, 5], Sampling(0)),
    "more room than there is memory": ([5, 5, 5], Sampling(10**14)),
}


@pytest.mark.parametrize("kind", UNSERVABLE)
async def test_a_request_that_cannot_be_served_fails_alone(kind: str) -> None:
    loaded = tiny_model(tiny_tokenizer(["some text"]), context_tokens=10**15)
    engine = TorchEngine(loaded)
    ids, sampling = UNSERVABLE[kind]
    good = [prompt_ids(12, seed) for seed in range(4)]
    before = [asyncio.create_task(engine.complete(ask(one), Sampling(120, seed=n))) for n, one in enumerate(good)]
    await asyncio.sleep(0)
    bad = asyncio.create_task(engine.complete(ask(ids), sampling))
    await asyncio.sleep(0)
    after = [asyncio.create_task(engine.complete(ask(one), Sampling(20, seed=n))) for n, one in enumerate(good)]
    with pytest.raises(PolicyError):
        await asyncio.wait_for(bad, 30)
    for one, reply in zip(good * 2, await asyncio.wait_for(asyncio.gather(*before, *after), 30), strict=True):
        assert worst_error(loaded, one, reply) < 1e-4
    engine.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_when_the_thread_of_the_engine_ends_all_that_wait_are_told_at_once(
    loaded: LoadedModel, caplog: pytest.LogCaptureFixture
) -> None:
    """Ended by what no boundary holds back, raised in a forward pass."""
    engine = TorchEngine(loaded, max_rows=1)
    waiting = [asyncio.create_task(engine.complete(ask(prompt_ids(9, n)), Sampling(240, seed=n))) for n in range(4)]
    await asyncio.sleep(0.02)

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    loaded.model.register_forward_pre_hook(end)
    waiting.append(asyncio.create_task(engine.complete(ask(prompt_ids(40, 99)), Sampling(4))))
    ends = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 30)
    told = "the engine has ended: its thread is gone"
    assert str(ends[-1]) == told
    assert all(isinstance(one, Completion) or str(one) == told for one in ends)
    assert told in caplog.text
    with pytest.raises(PolicyError, match=told):
        await engine.complete(ask(prompt_ids(5)), Sampling(4))
    with pytest.raises(PolicyError, match=told):
        engine.swap_weights(lambda: None, 1)
    engine.close()


async def test_closing_fails_whoever_is_read_drawn_or_waiting(loaded: LoadedModel) -> None:
    engine = TorchEngine(loaded, max_rows=1)
    waiting = [asyncio.create_task(engine.complete(ask(prompt_ids(9, n)), Sampling(240, seed=n))) for n in range(8)]
    await asyncio.sleep(0.02)
    engine.close()
    ends = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 10)
    assert sum(isinstance(end, PolicyError) and "closed" in str(end) for end in ends) >= 7  # one may be done already


async def test_a_closed_engine_says_so(engine: TorchEngine) -> None:
    engine.close()
    with pytest.raises(PolicyError, match="closed"):
        await engine.complete(ask(prompt_ids(5)), Sampling(4))


def test_sliding_window_models_are_refused(loaded: LoadedModel) -> None:
    loaded.model.config.layer_types = ["sliding_attention", "full_attention"]
    with pytest.raises(UserError, match="sliding-window"):
        replace(loaded, source="elsewhere")


async def test_an_engine_that_is_closed_leaves_the_model_as_it_was(loaded: LoadedModel) -> None:
    before = {name: vars(module).copy() for name, module in loaded.model.named_modules()}
    engine = TorchEngine(loaded)
    assert any(vars(module) != before[name] for name, module in loaded.model.named_modules())
    await engine.complete(ask(prompt_ids(5)), Sampling(3))
    engine.close()
    assert all(vars(module) == before[name] for name, module in loaded.model.named_modules())


async def test_learning_sees_the_plain_weights_even_while_an_engine_holds_packed_ones(loaded: LoadedModel) -> None:
    engine = TorchEngine(loaded)
    ids = torch.tensor([prompt_ids(6)])
    with torch.no_grad():
        before = loaded.model(ids).logits
        loaded.model.model.layers[0].mlp.down_proj.weight.mul_(2)
        after = loaded.model(ids).logits
    with torch.inference_mode():
        sampled = loaded.model(ids).logits
    engine.close()
    assert not torch.allclose(after, before, atol=1e-4)
    assert torch.allclose(sampled, before, atol=1e-4)  # until weights are swapped in


async def test_int8_samples_from_nearly_the_same_policy_and_tells_its_own_logprobs(loaded: LoadedModel) -> None:
    engine = TorchEngine(replace(loaded, compute="int8"))
    ids = prompt_ids(30)
    replies = [await engine.complete(ask(ids), Sampling(20, seed=seed)) for seed in range(4)]
    errors = [worst_error(loaded, ids, reply) for reply in replies]
    engine.close()
    assert 1e-6 < max(errors) < 0.2


async def test_an_engine_that_rests_holds_no_keys_and_answers_the_same_afterwards(
    engine: TorchEngine, loaded: LoadedModel
) -> None:
    ids = prompt_ids(30)
    before = await engine.complete(ask(ids), Sampling(8, seed=1))
    engine.rest()
    assert engine.held_tokens == 0
    engine.swap_weights(lambda: None, 1)
    after = await engine.complete(ask(ids), Sampling(8, seed=1))
    assert after.ids == before.ids
    assert (before.policy_version, after.policy_version) == (0, 1)
    assert engine.held_tokens > 0
    assert worst_error(loaded, ids, after) < 1e-4
