"""What a reply means: text to action and back. Owns the reply format; never executes anything a model wrote.

    plain:     # Element: link Blue Mug [3]
               do(action="Click", element="3")
    thinking:  <think> Element: textbox Search [5] </think>
               <answer> do(action="Search", argument="blue mug", element="5") </answer>

Lines that start with `#` are remarks; they stay in the history, the only memory there is, and mean nothing here.
"""

from __future__ import annotations

import re
from typing import Literal

from clickgrad.types import (
    Action,
    Click,
    Exit,
    GoBackward,
    GoForward,
    Hover,
    PageAction,
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

ReplyFormat = Literal["plain", "thinking"]

OPEN, CLOSE = "<answer>", "</answer>"
FUNCTIONS = "do|exit|go_backward|go_forward"
CALL = re.compile(rf"({FUNCTIONS})\s*\((.*)\)", re.DOTALL)
CALL_START = re.compile(rf"\b(?:{FUNCTIONS})\s*\(")
ARGUMENT = re.compile(r"""\s*(\w+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\d+)\s*(,|$)""", re.DOTALL)
ESCAPE = re.compile(r"\\(.)", re.DOTALL)

ON_ELEMENT: dict[str, type[Click | RightClick | Hover]] = {"Click": Click, "Right Click": RightClick, "Hover": Hover}
WITH_TEXT: dict[str, type[Type | Search | Select]] = {"Type": Type, "Search": Search, "Select Dropdown Option": Select}
BARE: dict[str, type[ScrollUp | ScrollDown | PressEnter | Wait]] = {
    "Scroll Up": ScrollUp,
    "Scroll Down": ScrollDown,
    "Press Enter": PressEnter,
    "Wait": Wait,
}
VERBS = (*ON_ELEMENT, *WITH_TEXT, *BARE, "Switch Tab")
NAMES: dict[type, str] = {kind: name for name, kind in {**ON_ELEMENT, **WITH_TEXT, **BARE}.items()}


def find_call(text: str) -> int | None:
    """Where the first action of a reply begins."""
    found = CALL_START.search(text)
    return found.start() if found else None


def parse(reply: str, reply_format: ReplyFormat) -> Action | Unparsable:
    """The one action of a reply, or why there is none. Total: no input raises."""
    if not reply.strip():
        return Unparsable('the reply is empty; expected one action such as do(action="Click", element="3")')
    if reply_format == "thinking":
        answers = _answers(reply)
        if len(answers) != 1:
            return Unparsable(f"expected one <answer> ... </answer>, found {len(answers)}")
        reply = answers[0]
    code = "\n".join(line for line in reply.splitlines() if not line.lstrip().startswith(("#", "```"))).strip()
    call = CALL.fullmatch(code)
    if not call:
        return Unparsable('expected one action such as do(action="Click", element="3")')
    arguments = _arguments(call[2])
    if isinstance(arguments, Unparsable):
        return arguments
    match call[1]:
        case "do":
            return _do(arguments)
        case "exit":
            return Exit(arguments.get("message", ""))
        case "go_backward":
            return GoBackward()
        case _:
            return GoForward()


def _answers(reply: str) -> list[str]:
    """What stands between the tags. Every character is read once, however many tags are left open."""
    found, at = [], 0
    while (start := reply.find(OPEN, at)) >= 0 and (end := reply.find(CLOSE, start)) >= 0:
        found.append(reply[start + len(OPEN) : end])
        at = end + len(CLOSE)
    return found


def _arguments(text: str) -> dict[str, str] | Unparsable:
    """`action="Type", element="3"` as a dict. The strings are unescaped, never evaluated."""
    found: dict[str, str] = {}
    at = 0
    while at < len(text) and text[at:].strip():
        argument = ARGUMENT.match(text, at)
        if not argument:
            return Unparsable('the arguments must look like name="value", separated by commas')
        name, value = argument[1], argument[2]
        if name not in ("action", "argument", "element", "message") or name in found:
            return Unparsable(f"unexpected argument {name[:40]}")
        found[name] = ESCAPE.sub(_unescape, value[1:-1]) if value[0] in "\"'" else value
        at = argument.end()
    return found


def _unescape(escape: re.Match[str]) -> str:
    return "\n" if escape[1] == "n" else escape[1]


def _do(arguments: dict[str, str]) -> PageAction | Unparsable:
    verb = arguments.get("action", "")
    if verb in BARE:
        return BARE[verb]()
    if verb == "Switch Tab":
        tab = _number(arguments.get("argument", ""))
        return SwitchTab(tab) if tab is not None else Unparsable('Switch Tab needs argument="<number of the tab>"')
    if verb not in VERBS:
        return Unparsable(f"unknown action {verb[:40]!r}; known are {', '.join(VERBS)}")
    element = _number(arguments.get("element", ""))
    if element is None:
        return Unparsable(f'{verb} needs element="<id>"')
    if verb in ON_ELEMENT:
        return ON_ELEMENT[verb](element)
    if "argument" not in arguments:
        return Unparsable(f'{verb} needs argument="..."')
    return WITH_TEXT[verb](element, arguments["argument"])


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


def render(action: Action, remark: str, reply_format: ReplyFormat) -> str:
    """The reply an expert would write. `parse(render(action, ...)) == action`."""
    call = _call(action)
    if reply_format == "thinking":
        return f"<think> {remark} </think>\n<answer> {call} </answer>"
    return "\n".join([f"# {line}" for line in remark.splitlines()] + [call])


def _call(action: Action) -> str:
    match action:
        case Exit(message):
            return f"exit(message={_quote(message)})"
        case GoBackward():
            return "go_backward()"
        case GoForward():
            return "go_forward()"
        case SwitchTab(tab):
            return f'do(action="Switch Tab", argument="{tab}")'
        case Click(element) | RightClick(element) | Hover(element):
            return f'do(action="{NAMES[type(action)]}", element="{element}")'
        case Type(element, text) | Search(element, text) | Select(element, text):
            return f'do(action="{NAMES[type(action)]}", argument={_quote(text)}, element="{element}")'
        case _:
            return f'do(action="{NAMES[type(action)]}")'


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
