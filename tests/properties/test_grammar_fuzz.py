"""A reply is data from a stranger: whatever it holds, it is read in linear time and nothing in it is run."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

import pytest

from clickgrad.agent.grammar import ReplyFormat, parse, render
from clickgrad.types import Action, Click, Exit, GoBackward, PressEnter, Search, Select, SwitchTab, Type, Unparsable

FORMATS: tuple[ReplyFormat, ...] = ("plain", "thinking")
ACTIONS: tuple[Action, ...] = (
    Click(3), Type(12, 'say "hi"\n\\ok'), Search(0, "blue mug"), Select(7, "Price: low to high"), SwitchTab(1),
    PressEnter(), GoBackward(), Exit("$12.50, N/A"), Exit("__import__('os').system('true')"),
)  # fmt: skip
PIECES = (
    "do(", "exit(", ")", '"', "'", "\\", "\\\\", '\\"', "action=", "element=", 'message="', ",", "=", "\n", "\r", "#",
    "\x00", "```", "<answer>", "</answer>", "<think>", "{}", "%s", "__import__('os')", "lambda: 0", "\ud800", "é", "１",
    "\u2028", "9" * 30, " " * 40,
)  # fmt: skip
WATCHED = {"compile", "exec", "import", "open", "os.system", "os.exec", "subprocess.Popen", "socket.connect"}

_audited: list[str] | None = None


def _audit(event: str, _: tuple[object, ...]) -> None:
    # Other threads, such as a browser driver's, go on with their own affairs.
    if _audited is not None and event in WATCHED and threading.current_thread() is threading.main_thread():
        _audited.append(event)


sys.addaudithook(_audit)  # hooks stay for good, hence the switch


@contextmanager
def audited() -> Iterator[list[str]]:
    """What the interpreter was asked to run, import or open meanwhile."""
    global _audited
    _audited = []
    try:
        yield _audited
    finally:
        _audited = None


def mutated(reply: str, chance: random.Random) -> str:
    for _ in range(chance.randrange(1, 6)):
        start, stop = sorted(chance.randrange(len(reply) + 1) for _ in range(2))
        part = reply[start:stop]
        match chance.randrange(4):
            case 0:
                reply = reply[:start] + reply[stop:]
            case 1:
                reply = reply[:start] + chance.choice(PIECES) + reply[start:]
            case 2:
                reply = reply[:stop] + part + reply[stop:]
            case _:
                reply = reply[:start] + part[::-1] + reply[stop:]
    return reply


def test_a_hundred_thousand_fuzzed_replies_are_an_action_or_a_reason_and_nothing_is_run() -> None:
    chance = random.Random(20)
    valid = [render(action, "Element: it", style) for action in ACTIONS for style in FORMATS]
    kinds = {kind for union in get_args(Action) for kind in (get_args(union) or (union,))} | {Unparsable}
    seen: dict[type, int] = {}
    replies = [mutated(chance.choice(valid), chance) for _ in range(100_000)]
    with audited() as events:
        for number, reply in enumerate(replies):
            kind = type(parse(reply, FORMATS[number % 2]))
            seen[kind] = seen.get(kind, 0) + 1
    assert events == []
    assert set(seen) <= kinds
    assert sum(seen.values()) == 100_000
    assert 1_000 < sum(count for kind, count in seen.items() if kind is not Unparsable) < 99_000, (
        "both ends are reached"
    )


def test_the_audit_would_notice() -> None:
    with audited() as events:
        compile("1 + 1", "reply", "eval")
    assert events == ["compile"]


def test_code_in_a_reply_stays_text() -> None:
    assert parse("exit(message=\"__import__('os').getcwd()\")", "plain") == Exit("__import__('os').getcwd()")
    for code in (
        '__import__("os").system("true")',
        'do(action=print("x"))',
        'do(**{"action": "Wait"})',
        "exit(message=1+1)",
    ):
        assert isinstance(parse(code, "plain"), Unparsable)


SIZE = 400_000


@pytest.mark.timeout(30)  # linear takes milliseconds, anything quadratic minutes
@pytest.mark.parametrize("style", FORMATS)
@pytest.mark.parametrize(
    ("head", "flood"),
    [
        ("", "<answer>"), ("", "</answer>"), ("", "\n"), ("", "#\n"), ("do", " "), ("do(", ")"), ("do(", "("),
        ("do(", " "), ("do(", "a"), ("do(", "a "), ("do(action", " "), ("do(action", "="), ("do(action=", '"'),
        ('do(action="', "\\"), ('do(action="', '\\"'), ("do(action='", "\\'"), ('do(action="', "'"),
        ("do(element=", "9"), ('do(action="Fly"', " "), ('do(action="Wait"', ","), ("do(", 'action="Wait",'),
        ("do(", "\u2028"),
    ],
)  # fmt: skip
def test_a_flood_of_anything_is_read_in_linear_time(head: str, flood: str, style: ReplyFormat) -> None:
    for tail in ("", ")", "x)"):
        reply = head + flood * (SIZE // len(flood)) + tail
        for whole in (reply, f"<answer>{reply}</answer>"):
            assert isinstance(parse(whole, style), Unparsable)
