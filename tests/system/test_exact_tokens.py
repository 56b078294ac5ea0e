"""The promise of exact tokens on the real thing: SmolLM2, Chromium, the shop."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import torch
from rollouts import fill_slots, opened, player

from clickgrad.backends.agents import make_agent
from clickgrad.backends.policies import prompt_builder
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.backends.venues import open_venue
from clickgrad.config import Config, load_config
from clickgrad.learn.logprobs import collate, reply_logprobs
from clickgrad.learn.samples import clone_samples
from clickgrad.learn.spec import Layout
from clickgrad.policy.models import LoadedModel, load_model
from clickgrad.policy.torch_engine import TorchEngine
from clickgrad.rollout.scheduler import Slot
from clickgrad.tasks.suites import load_tasks
from clickgrad.types import Completion, Observation, Sampling, Trajectory

LAYOUTS: tuple[Layout, ...] = ("rows", "comb")


@pytest.fixture(scope="module")
def config() -> Config:
    return load_config("quick", ["agent.max_turns=3", "agent.max_new_tokens=40"], "evaluate")


@pytest.fixture(scope="module")
def smollm2() -> LoadedModel:
    return load_model("smollm2")


@pytest.mark.timeout(300)  # the first time, the embedded weights are dequantised
@pytest.mark.parametrize("temperature", [1.0, pytest.param(0.0, marks=pytest.mark.slow)])
def test_sampler_logprobs_equal_recomputed_ones(
    config: Config, smollm2: LoadedModel, tmp_path: Path, temperature: float
) -> None:
    """Replies of forty tokens, later ones in a context that holds the earlier ones; sampled, and greedy."""
    engine = TorchEngine(smollm2)
    agent = make_agent(config, engine, prompt_builder(config, smollm2.tokenizer), temperature, tmp_path)
    tasks = chosen_tasks(config, "test")[:1]
    slots = [Slot(f"{task.id}/{member}", task, 0) for task in tasks for member in range(2)]
    ended: list[Trajectory] = []
    with asyncio.Runner() as runner, opened(runner, open_venue(config)) as venue:
        runner.run(fill_slots(slots, player(agent, venue), concurrency=2, retries=0, stored={}, on_end=ended.append))
    engine.close()
    assert all(trajectory.error is None for trajectory in ended)
    samples = [sample for trajectory in ended for sample in clone_samples(trajectory)]
    assert max(len(trajectory.turns) for trajectory in ended) == 3
    assert max(sample.reply_len for sample in samples) == 40
    assert sum(sample.reply_len for sample in samples) > 100
    for layout in LAYOUTS:
        batch = collate(samples, layout)
        with torch.no_grad():
            recomputed, _ = reply_logprobs(smollm2.model, batch)
        worst = ((recomputed - batch.old_logprobs_BK).abs() * batch.loss_BK).max()
        assert float(worst) < 1e-4, layout


def test_the_embedded_models_prompt_equals_its_chat_template(config: Config, smollm2: LoadedModel) -> None:
    builder = prompt_builder(config, smollm2.tokenizer)
    task = chosen_tasks(config, "test")[0]
    page = Observation("http://shop.localhost/cart", "Cart", ("link Home [0]", "Cart", "1 x $19.50 = $19.50"), ())
    history = [builder.reply('do(action="Click", element="3")'), builder.reply("go_backward()")]
    prompt = builder.prompt("e", task, history, page)
    whole = smollm2.tokenizer.render_chat(prompt.messages, reply_header=True)
    assert list(prompt.ids) == smollm2.tokenizer.encode_template(whole)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_greedy_equals_generate_token_by_token_on_two_hundred_prompts(smollm2: LoadedModel) -> None:
    """The embedded model is asked what all tasks of a site are about, at many lengths, in a crowd of sixteen."""
    tasks = load_tasks("pocket", "all")[:200]
    builder = prompt_builder(Config(), smollm2.tokenizer)
    page = Observation("http://shop.localhost/", "Home", ("link Home [0]", "link Cart [1]"), ())
    prompts = [builder.prompt(task.id, task, (), page) for task in tasks]
    engine = TorchEngine(smollm2)

    async def ask_all() -> list[Completion]:
        return await asyncio.gather(*(engine.complete(one, Sampling(12, temperature=0)) for one in prompts))

    replies = asyncio.run(ask_all())
    engine.close()
    assert len({len(prompt.ids) for prompt in prompts}) > 10
    for prompt, reply in zip(prompts, replies, strict=True):
        ids = torch.tensor([prompt.ids])
        with torch.no_grad():
            whole = smollm2.model.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False, pad_token_id=0
            )
        assert list(reply.ids) == whole[0, ids.shape[1] :].tolist()
