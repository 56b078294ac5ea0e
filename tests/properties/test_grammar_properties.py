from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from clickgrad.agent.grammar import ReplyFormat, parse, render
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
    Wait,
)

IDS = st.integers(0, 10**9 - 1)
# Whoever writes a reply cannot write the tags of the format inside it.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<>\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"))
ACTIONS: st.SearchStrategy[Action] = st.one_of(
    *(st.builds(kind, IDS) for kind in (Click, RightClick, Hover, SwitchTab)),
    *(st.builds(kind, IDS, TEXTS) for kind in (Type, Search, Select)),
    *(st.builds(kind) for kind in (ScrollUp, ScrollDown, PressEnter, Wait, GoBackward, GoForward)),
    st.builds(Exit, TEXTS),
)
PIECES = st.sampled_from(
    ['do(', 'exit(', ')', '"', "'", "\\", "action=", "element=", "argument=", "message=", '"Click"', '"3"', ",", " ",
     "\n", "#", "<answer>", "</answer>", "<think>", "go_backward()", "{", "\x00", "é"]
)  # fmt: skip


@given(ACTIONS, st.sampled_from(["plain", "thinking"]))
@settings(max_examples=400)
def test_what_an_expert_writes_is_what_the_parser_reads(action: Action, reply_format: ReplyFormat) -> None:
    assert parse(render(action, "Element: it", reply_format), reply_format) == action


@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=14).map("".join)))
@settings(max_examples=2000)
def test_no_reply_raises(reply: str) -> None:
    parse(reply, "plain")
    parse(reply, "thinking")
