"""Guesses at the tokens of a reply: what is guessed, and that no reply ever depends on it."""

from __future__ import annotations

import asyncio

import pytest
from tiny import make_task, teach, tiny_model, tiny_tokenizer

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.policy.drafts import MOST, PROBE_EVERY, Drafter, Page
from clickgrad.policy.models import LoadedModel
from clickgrad.policy.torch_engine import TorchEngine
from clickgrad.types import Completion, Observation, Prompt, Sampling

NAMES = ("Cotton", "Wool", "Blue", "Red")
LINES = tuple(f"link Classic {name} Bear [{number}]" for number, name in enumerate(NAMES))
REPLIES = [f'# Element: {line}\ndo(action="Click", element="{number}")' for number, line in enumerate(LINES)]


@pytest.fixture(scope="module")
def taught() -> tuple[LoadedModel, Prompt]:
    """A model that says one of four replies, each of which copies a line of its page."""
    loaded = tiny_model(tiny_tokenizer([*REPLIES, *LINES]))
    builder = PromptBuilder(loaded.tokenizer, "plain", "short", page_tokens=300)
    page = Observation("http://toy/", "Toy", LINES, ())
    teach(loaded, builder, make_task(), page, REPLIES)
    return loaded, builder.prompt("e", make_task(), (), page)


def ask(loaded: LoadedModel, prompt: Prompt, drafting: bool, temperature: float) -> tuple[list[Completion], float]:
    engine = TorchEngine(loaded, max_rows=8, drafting=drafting)

    async def all_of_them() -> list[Completion]:
        asked = (engine.complete(prompt, Sampling(60, temperature, seed)) for seed in range(100))
        return await asyncio.gather(*asked)

    try:
        return asyncio.run(all_of_them()), engine.tokens_per_forward
    finally:
        engine.close()


@pytest.mark.parametrize("temperature", [1.0, 1.5])
def test_guesses_change_the_speed_and_never_a_reply(taught: tuple[LoadedModel, Prompt], temperature: float) -> None:
    plain, one_by_one = ask(*taught, False, temperature)
    guessed, at_once = ask(*taught, True, temperature)
    assert len({reply.ids for reply in plain}) > 4
    assert [reply.ids for reply in guessed] == [reply.ids for reply in plain]
    for one, other in zip(guessed, plain, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4)
    assert one_by_one == 1.0
    assert at_once > 1.1  # at a high temperature little can be guessed


def test_a_guess_goes_on_as_earlier_replies_did() -> None:
    drafter = Drafter()
    nothing = Page(())
    assert drafter.propose(nothing, [], MOST) == []
    for _ in range(4):
        drafter.learn([1, 2, 3, 4, 5])
    assert drafter.propose(nothing, [], MOST)[:2] == [1, 2]
    assert drafter.propose(nothing, [1, 2], 2) == [3, 4]


def test_a_name_is_copied_from_the_page() -> None:
    page = Page((9, 8, 7, *range(20, 40)))
    # 0.8 to the seventh power is 0.21, to the eighth 0.17: less likely right than FLOOR
    assert Drafter().propose(page, [9, 8, 7], MOST) == [*range(20, 27)]
    assert Drafter().propose(page, [8, 9, 7], MOST) == []


def test_a_reply_under_way_is_learned_from_once() -> None:
    whole, bit_by_bit, page = Drafter(), Drafter(), Page(())
    whole.learn([1, 2, 3, 4])
    bit_by_bit.learn([1, 2])
    assert bit_by_bit.propose(page, [], 1) == [1]  # before it is finished
    bit_by_bit.learn([1, 2, 3, 4], since=2)
    for said in ([], [1], [1, 2], [1, 2, 3], [2, 3]):
        assert bit_by_bit.propose(page, said, MOST) == whole.propose(page, said, MOST)


def test_who_is_always_wrong_guesses_now_and_then_only() -> None:
    drafter = Drafter()
    for _ in range(4):
        drafter.learn([1, 2, 3])
    for _ in range(200):
        drafter.note(guessed=1, right=0)
    tries = [bool(drafter.propose(Page(()), [], MOST)) for _ in range(10 * PROBE_EVERY)]
    assert sum(tries) == 10
    for _ in range(200):
        drafter.note(guessed=1, right=1)
    assert drafter.propose(Page(()), [], MOST)
