from __future__ import annotations

import pytest

from clickgrad.agent.grammar import parse, render
from clickgrad.types import (
    Action,
    Click,
    Exit,
    GoBackward,
    GoForward,
    Hover,
    PressEnter,
    RightClick,
    ScrollDown,
    ScrollUp,
    Search,
    Select,
    SwitchTab,
    Type,
    Unparsable,
    Wait,
)


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ('do(action="Click", element="3")', Click(3)),
        ('do(action="Right Click", element="12")', RightClick(12)),
        ('do(action="Hover", element="0")', Hover(0)),
        ('do(action="Type", argument="blue mug", element="5")', Type(5, "blue mug")),
        ('do(action="Search", argument="mug", element="1")', Search(1, "mug")),
        ('do(action="Select Dropdown Option", argument="Price", element="7")', Select(7, "Price")),
        ('do(action="Scroll Up")', ScrollUp()),
        ('do(action="Scroll Down")', ScrollDown()),
        ('do(action="Press Enter")', PressEnter()),
        ('do(action="Switch Tab", argument="1")', SwitchTab(1)),
        ('do(action="Wait")', Wait()),
        ("go_backward()", GoBackward()),
        ("go_forward()", GoForward()),
        ('exit(message="$12.50")', Exit("$12.50")),
        ("exit()", Exit("")),
        ("do(action='Click', element=3)", Click(3)),
        ('# Element: the cart\n# Note: costs $3\ndo(action="Click", element="3")', Click(3)),
        ('```\ndo(action="Click", element="3")\n```', Click(3)),
        ('do(action="Type", argument="say \\"hi\\", (ok)", element="2")', Type(2, 'say "hi", (ok)')),
    ],
)
def test_every_action_of_the_paper_parses(reply: str, action: Action) -> None:
    assert parse(reply, "plain") == action


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "the reply is empty; expected one action"),
        (" \n", "the reply is empty; expected one action"),
        ("I would click the cart", "expected one action"),
        ('do(action="Click", element="3") do(action="Click", element="4")', "name="),
        ('do(action="Fly", element="3")', "unknown action 'Fly'"),
        ('do(action="Click")', "Click needs element"),
        ('do(action="Click", element="cart")', "Click needs element"),
        ('do(action="Click", element="-1")', "Click needs element"),
        ('do(action="Type", element="3")', "Type needs argument"),
        ('do(action="Switch Tab", argument="next")', "Switch Tab needs"),
        ('do(action="Click", element="3", force="yes")', "unexpected argument force"),
        ('do(action="Click", action="Hover", element="3")', "unexpected argument action"),
        ('do(action="Click", element="3"', "expected one action"),
        ('__import__("os").system("true")', "expected one action"),
        ("do(action=open('/etc/passwd'), element=\"3\")", "name="),
    ],
)
def test_anything_else_says_why_it_is_no_action(reply: str, reason: str) -> None:
    parsed = parse(reply, "plain")
    assert isinstance(parsed, Unparsable)
    assert reason in parsed.reason


def test_the_thinking_format_takes_the_action_from_the_answer() -> None:
    reply = '<think> do(action="Click", element="9") would be wrong </think>\n<answer> exit(message="7") </answer>'
    assert parse(reply, "thinking") == Exit("7")


@pytest.mark.parametrize("reply", ['exit(message="7")', "<answer> a </answer><answer> b </answer>", "<answer> exit()"])
def test_the_thinking_format_wants_exactly_one_answer(reply: str) -> None:
    parsed = parse(reply, "thinking")
    assert isinstance(parsed, Unparsable)
    assert "<answer>" in parsed.reason


def test_the_remark_of_a_demonstration_is_its_thinking() -> None:
    assert render(Click(3), "Element: the cart", "thinking") == (
        '<think> Element: the cart </think>\n<answer> do(action="Click", element="3") </answer>'
    )
    assert render(Click(3), "Element: the cart", "plain") == '# Element: the cart\ndo(action="Click", element="3")'
