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
    AnswerDialog,
    Click,
    Deselect,
    DoubleClick,
    Drag,
    Exit,
    GoBackward,
    GoForward,
    Hover,
    PageAction,
    PressEnter,
    PressKey,
    RightClick,
    Scroll,
    ScrollDown,
    ScrollUp,
    Search,
    Select,
    SwitchTab,
    Type,
    Unparsable,
    Upload,
    Wait,
)

ReplyFormat = Literal["plain", "thinking"]
ActionSet = Literal["paper", "full"]

OPEN, CLOSE = "<answer>", "</answer>"
FUNCTIONS = "do|exit|go_backward|go_forward"
CALL = re.compile(rf"({FUNCTIONS})\s*\((.*)\)", re.DOTALL)
CALL_START = re.compile(rf"\b(?:{FUNCTIONS})\s*\(")
ARGUMENT = re.compile(r"""\s*(\w+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\d+)\s*(,|$)""", re.DOTALL)
ESCAPE = re.compile(r"\\(.)", re.DOTALL)

ON_ELEMENT: dict[str, type[Click | RightClick | Hover | DoubleClick]] = {
    "Click": Click,
    "Right Click": RightClick,
    "Hover": Hover,
    "Double Click": DoubleClick,
}
WITH_TEXT: dict[str, type[Type | Search | Select | Upload | Deselect]] = {
    "Type": Type,
    "Search": Search,
    "Select Dropdown Option": Select,
    "Upload": Upload,
    "Deselect": Deselect,
}
BARE: dict[str, type[ScrollUp | ScrollDown | PressEnter | Wait]] = {
    "Scroll Up": ScrollUp,
    "Scroll Down": ScrollDown,
    "Press Enter": PressEnter,
    "Wait": Wait,
}
DIRECTIONS = ("up", "down", "left", "right")
PAPER_VERBS = ("Click", "Right Click", "Hover", "Type", "Search", "Select Dropdown Option", *BARE, "Switch Tab")
FULL_VERBS = (
    *PAPER_VERBS,
    "Press Key",
    "Double Click",
    "Drag",
    "Scroll",
    "Upload",
    "Deselect",
    "Accept Dialog",
    "Dismiss Dialog",
)
VERBS: dict[ActionSet, tuple[str, ...]] = {"paper": PAPER_VERBS, "full": FULL_VERBS}
NAMES: dict[type, str] = {kind: name for name, kind in {**ON_ELEMENT, **WITH_TEXT, **BARE}.items()}


def find_call(text: str) -> int | None:
    """Where the first action of a reply begins."""
    found = CALL_START.search(text)
    return found.start() if found else None


def parse(reply: str, reply_format: ReplyFormat, actions: ActionSet = "paper") -> Action | Unparsable:
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
    return meant(call[1], arguments, actions)


def meant(function: str, arguments: dict[str, str], actions: ActionSet) -> Action | Unparsable:
    """What a call means, its arguments read."""
    match function:
        case "do":
            return _do(arguments, actions)
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


def _do(arguments: dict[str, str], actions: ActionSet) -> PageAction | Unparsable:
    verb = arguments.get("action", "")
    if verb not in VERBS[actions]:
        return Unparsable(f"unknown action {verb[:40]!r}; known are {', '.join(VERBS[actions])}")
    if verb in BARE:
        return BARE[verb]()
    if verb == "Switch Tab":
        tab = _number(arguments.get("argument", ""))
        return SwitchTab(tab) if tab is not None else Unparsable('Switch Tab needs argument="<number of the tab>"')
    if verb in ("Accept Dialog", "Dismiss Dialog"):
        return AnswerDialog(verb == "Accept Dialog", arguments.get("argument", ""))
    if verb == "Press Key":
        keys = arguments.get("argument", "")
        return PressKey(keys) if keys else Unparsable('Press Key needs argument="<keys>", as Escape or Control+A')
    element = _number(arguments.get("element", ""))
    if element is None:
        return Unparsable(f'{verb} needs element="<id>"')
    if verb in ON_ELEMENT:
        return ON_ELEMENT[verb](element)
    if "argument" not in arguments:
        return Unparsable(f'{verb} needs argument="..."')
    if verb == "Drag":
        to = _number(arguments["argument"])
        return Drag(element, to) if to is not None else Unparsable('Drag needs argument="<id of where to drop it>"')
    if verb == "Scroll":
        way = arguments["argument"]
        return (
            Scroll(element, way) if way in DIRECTIONS else Unparsable("Scroll needs argument up, down, left or right")
        )
    return WITH_TEXT[verb](element, arguments["argument"])


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


def render(action: Action, remark: str, reply_format: ReplyFormat) -> str:
    """The reply an expert would write. `parse(render(action, ...)) == action`."""
    call = call_of(action)
    if reply_format == "thinking":
        return f"<think> {remark} </think>\n<answer> {call} </answer>"
    return "\n".join([f"# {line}" for line in remark.splitlines()] + [call])


def call_of(action: Action) -> str:
    match action:
        case Exit(message):
            return f"exit(message={_quote(message)})"
        case GoBackward():
            return "go_backward()"
        case GoForward():
            return "go_forward()"
        case SwitchTab(tab):
            return f'do(action="Switch Tab", argument="{tab}")'
        case PressKey(keys):
            return f'do(action="Press Key", argument={_quote(keys)})'
        case AnswerDialog(accept, text):
            argument = f", argument={_quote(text)}" if text else ""
            return f'do(action="{"Accept" if accept else "Dismiss"} Dialog"{argument})'
        case Drag(element, to):
            return f'do(action="Drag", argument="{to}", element="{element}")'
        case Scroll(element, direction):
            return f'do(action="Scroll", argument="{direction}", element="{element}")'
        case Click(element) | RightClick(element) | Hover(element) | DoubleClick(element):
            return f'do(action="{NAMES[type(action)]}", element="{element}")'
        case (
            Type(element, text)
            | Search(element, text)
            | Select(element, text)
            | Upload(element, text)
            | Deselect(element, text)
        ):
            return f'do(action="{NAMES[type(action)]}", argument={_quote(text)}, element="{element}")'
        case _:
            return f'do(action="{NAMES[type(action)]}")'


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
