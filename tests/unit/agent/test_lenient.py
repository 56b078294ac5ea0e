"""Replies that keep to the grammar only in sense."""

from __future__ import annotations

import pytest

from clickgrad.agent.grammar import ReplyFormat
from clickgrad.agent.lenient import Grammar
from clickgrad.types import Action, Click, Element, Exit, GoBackward, Search, Type, Unparsable

PAGE = (
    Element(0, "link", "Cart"),
    Element(12, "button", "Blue Mug"),
    Element(3, "textbox", "Search"),
    Element(4, "link", "Delete"),
    Element(5, "link", "Delete"),
)


@pytest.mark.parametrize(
    ("reply", "action", "read_as"),
    [
        ('do(action="Click", element="12")', Click(12), ""),
        ('do(action="Click", element="[12]")', Click(12), 'do(action="Click", element="12")'),
        ("do(action=click, element=12)", Click(12), 'do(action="Click", element="12")'),
        ('do(action="Click", element="Blue Mug")', Click(12), 'do(action="Click", element="12")'),
        ('do(action="Click", element="button blue mug")', Click(12), 'do(action="Click", element="12")'),
        ('do(action="Click", element="button Blue Mug [12]")', Click(12), 'do(action="Click", element="12")'),
        ('I click it: do(action="Click", element="0").', Click(0), 'do(action="Click", element="0")'),
        (
            'do(action="Click", element="0")\ndo(action="Click", element="12")',
            Click(0),
            'do(action="Click", element="0")',
        ),
        (
            'do(action="Search", argument="a, b (c)", element="Search") done',
            Search(3, "a, b (c)"),
            'do(action="Search", argument="a, b (c)", element="3")',
        ),
        ("do(action=Type, argument=mug, element=3", Type(3, "mug"), 'do(action="Type", argument="mug", element="3")'),
        ('exit("done")', Exit("done"), 'exit(message="done")'),
        ("go_backward() now", GoBackward(), "go_backward()"),
    ],
)
def test_what_can_be_read_in_one_way_is_read_so_and_told(reply: str, action: Action, read_as: str) -> None:
    assert Grammar("plain").read(reply, PAGE) == (action, read_as)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('do(action="Click", element="Delete")', "several elements are called"),
        ('do(action="Click", element="Green Mug")', "there is no element"),
        ('do(action="Jump", element="3")', "unknown action"),
        ('do(action="Press Key", argument="Escape")', "unknown action"),
        ("Click [12]", "expected one action"),
        ("", "the reply is empty"),
    ],
)
def test_what_can_be_read_in_several_ways_or_none_is_no_action(reply: str, reason: str) -> None:
    action, read_as = Grammar("plain").read(reply, PAGE)
    assert isinstance(action, Unparsable)
    assert reason in action.reason
    assert read_as == ""


def test_a_strict_grammar_takes_nothing_else() -> None:
    action, _ = Grammar("plain", strictness="strict").read("do(action=click, element=12)", PAGE)
    assert isinstance(action, Unparsable)


@pytest.mark.parametrize("reply_format", ["plain", "thinking"])
def test_a_thinking_reply_without_its_tags_is_read_by_its_call(reply_format: ReplyFormat) -> None:
    reply = '<think> do(action="Click", element="0") would be wrong </think> do(action="Click", element="12") it is'
    assert Grammar(reply_format).read(reply, PAGE)[0] == Click(12)
