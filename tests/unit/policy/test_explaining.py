"""A hosted model explains what an expert does; what it writes never changes what the expert does."""

from __future__ import annotations

import pytest
from fake_endpoint import FakeEndpoint, reply, serving
from observed import observed
from tiny import make_task

from clickgrad.agent.grammar import ReplyFormat, parse
from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser.snapshot import Control
from clickgrad.errors import PolicyError
from clickgrad.policy.chat import ChatEngine, Endpoint
from clickgrad.policy.explaining import TRIES, ChatExplainer, cleaned
from clickgrad.policy.scripted import ExpertPolicy, FixedPolicy
from clickgrad.tasks.moves import Move
from clickgrad.tasks.suites import load_tasks
from clickgrad.types import Click, Element, Exit, Observation, Prompt, Sampling

pytestmark = pytest.mark.anyio

WHY = "I want the status of the order. This page lists it."
FORMATS: tuple[ReplyFormat, ...] = ("plain", "thinking")
MOVE = Move(Click(3), "Element: link Order 1 [3]", "it leads there")


def prompt() -> Prompt:
    page = Observation("http://toy/orders", "Orders", ("link Order 1 [3]",), (Element(3, "link", "Order 1"),))
    return PromptBuilder(None, "plain").prompt("e", make_task(intent="What is its status?"), (), page)


@pytest.mark.parametrize("reply_format", FORMATS)
@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (WHY, WHY),
        (f'<think>\n{WHY}\n</think>\n<answer> exit(message="wrong") </answer>', WHY),
        (f'# {WHY}\ndo(action="Click", element="9")', WHY),
        (f"{WHY}\n\n```python\ngo_backward()\n```", WHY),
        ("First this.\n\n**Then that.**", "First this. Then that."),
        (f"{WHY} <answer> exit(", WHY),
        ('exit(message="done")', ""),
        ("", ""),
        ("</think></answer>", ""),
    ],
)
def test_tags_and_actions_are_taken_out_of_an_explanation(text: str, remark: str, reply_format: ReplyFormat) -> None:
    assert cleaned(text, Click(3), reply_format) == remark


async def test_the_model_is_shown_the_page_the_notes_and_the_known_action() -> None:
    with serving(FakeEndpoint(reply(WHY))) as fake:
        engine = ChatEngine(Endpoint(fake.url, "thinker"))
        assert await ChatExplainer(engine).explain(prompt(), MOVE, ["Brand: Acorn"], "plain") == WHY
        engine.close()
    asked = fake.bodies[0]["messages"][1]["content"]
    for part in (
        "Task: What is its status?",
        "Brand: Acorn",
        "link Order 1 [3]",
        'do(action="Click", element="3")',
        "It is right because it leads there. Element: link Order 1 [3]",
    ):
        assert part in asked


async def test_a_useless_explanation_is_asked_for_again_but_not_for_ever() -> None:
    explainer = ChatExplainer(FixedPolicy("fixed", ["go_backward()", "", WHY]))
    assert await explainer.explain(prompt(), MOVE, [], "thinking") == WHY
    hopeless = FixedPolicy("hopeless", ["go_backward()"])
    with pytest.raises(PolicyError, match=rf"hopeless gave no usable explanation in {TRIES} tries: 'go_backward\(\)'"):
        await ChatExplainer(hopeless).explain(prompt(), MOVE, [], "thinking")


@pytest.mark.parametrize("reply_format", FORMATS)
async def test_the_action_stays_the_experts(reply_format: ReplyFormat) -> None:
    task = next(one for one in load_tasks("pocket", "test") if one.template == "shop.order_history")
    name = f"Order {task.param('order')}"
    page = observed("My Orders", Control(0, "link", name), "January 5, 2025, Delivered, $1.00")
    asked = PromptBuilder(None, reply_format).prompt("e", task, (), page)
    wrong = FixedPolicy("wrong", [f'{WHY}\n<answer> exit(message="nonsense") </answer>'])
    explained = await ExpertPolicy(reply_format, ChatExplainer(wrong)).complete(asked, Sampling(8))
    plain = await ExpertPolicy(reply_format).complete(asked, Sampling(8))
    action = parse(explained.text, reply_format)
    assert isinstance(action, Exit)
    assert action == parse(plain.text, reply_format)
    assert WHY in explained.text
    assert "nonsense" not in explained.text
