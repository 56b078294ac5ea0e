"""What the options of hosted models mean, and what cannot be done with one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from fake_endpoint import KEY, FakeEndpoint, failure, serving
from rollouts import fill_slots, player
from tiny import FakeVenue, make_task, make_trajectory, make_turn

from clickgrad.backends.agents import make_agent
from clickgrad.backends.policies import ChatModel, model_spec, open_chat, prompt_builder
from clickgrad.browser import FakePage
from clickgrad.config import load_config
from clickgrad.errors import UserError
from clickgrad.learn.samples import clone_samples, grpo_samples
from clickgrad.policy.models import load
from clickgrad.recipes.clone import clone
from clickgrad.recipes.evaluate import evaluate
from clickgrad.rollout.scheduler import Slot
from clickgrad.types import Trajectory


@pytest.fixture(autouse=True)
def no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.mark.parametrize(
    ("model", "settings", "reason"),
    [
        ("gpt-4o", [], "chat:gpt-4o needs a key: set OPENAI_API_KEY, or chat.url"),
        ("m", ["chat.url=nowhere"], "chat.url 'nowhere' is no address"),
    ],
)
def test_an_option_that_cannot_be_meant_is_named(model: str, settings: Sequence[str], reason: str) -> None:
    with pytest.raises(UserError) as caught:
        open_chat(load_config(None, settings, "evaluate"), ChatModel(model))
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_temperature_that_would_not_be_sent_is_refused(tmp_path: Path) -> None:
    settings = ["chat.url=http://h/v1", "chat.reasoning=true", "evaluate.temperature=1.0"]
    with pytest.raises(UserError, match="sends no temperature"):
        asyncio.run(evaluate(load_config(None, settings, "evaluate"), ChatModel("m"), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_an_explanation_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(UserError, match=r"option clone\.remarks"):
        load_config(None, ["clone.remarks=loud"], "demos")
    assert load_config(None, ["clone.remarks=chat:gpt-4o"], "demos").clone.remarks == "chat:gpt-4o"


def test_reinforcement_reads_no_option_of_hosted_models() -> None:
    with pytest.raises(UserError, match="does not read the section chat"):
        load_config(None, ["chat.tries=1"], "reinforce")


def test_a_hosted_model_cannot_be_trained(tmp_path: Path) -> None:
    config = load_config(None, ["model.path=chat:gpt-4o"], "clone")
    with pytest.raises(UserError, match="it can be evaluated, but not trained"):
        load(model_spec(config, "chat:gpt-4o"))
    with pytest.raises(UserError, match="it can be evaluated, but not trained"):
        asyncio.run(clone(config, tmp_path / "run"))
    assert list(tmp_path.iterdir()) == []


def test_replies_without_token_ids_are_not_trained_on() -> None:
    said, tried = (make_trajectory([make_turn((), ())], reward) for reward in (1.0, 0.0))
    with pytest.raises(UserError, match="a reply without token ids cannot be trained on"):
        clone_samples(said)
    with pytest.raises(UserError, match="a reply without token ids cannot be trained on"):
        grpo_samples([[said, tried]])


@pytest.mark.anyio
async def test_a_refused_key_ends_the_run_instead_of_every_episode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    ended: list[Trajectory] = []
    with serving(FakeEndpoint(failure(401, f"no such key {KEY}"))) as fake:
        config = load_config(None, [f"chat.url={fake.url}", "chat.concurrency=1"], "evaluate")
        with closing(open_chat(config, ChatModel("fake"))) as engine:
            agent = make_agent(config, engine, prompt_builder(config, None), 0.0, tmp_path)
            with pytest.raises(UserError, match=r"refuses the key .*\[key\]"):
                await fill_slots(
                    [Slot(f"slot-{number}", make_task(), 0) for number in range(4)],
                    player(agent, FakeVenue({"http://toy/": FakePage("Toy", ("a line",))})),
                    concurrency=4,
                    retries=2,
                    stored={},
                    on_end=ended.append,
                )
    assert ended == []
