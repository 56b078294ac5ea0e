"""Replies that keep to the grammar only in sense, read where there is but one way to read them. Executes nothing.

    Click [12]                                      is no call and stays no action
    do(action=click, element=[12])                  quotes are missing, the verb is written small
    do(action="Click", element="Blue Mug")          the one element of that name
    do(...) and then do(...)                        the first counts
    I click it: do(action="Click", element="3").    what stands around is passed over

What was read so is kept with the turn, and the next page opens with a notice that says how it was read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from clickgrad.agent.grammar import CALL_START, VERBS, ActionSet, ReplyFormat, call_of, meant, parse
from clickgrad.types import Action, Element, Unparsable

Strictness = Literal["strict", "lenient"]
LONGEST = 4000  # characters of a reply that are looked through
_PAIR = re.compile(
    r"""\s*(action|argument|element|message)\s*[=:]\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,"']*)\s*(?:,|$)""",
    re.DOTALL,
)
_IN_BRACKETS = re.compile(r"\[\s*(\d{1,9})\s*\]\s*$")
_ONE_TEXT = re.compile(r"""\s*(?:message\s*=\s*)?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"'=]*)\s*""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a reply may be: its format, which actions there are, and how strictly it is read."""

    reply_format: ReplyFormat = "plain"
    actions: ActionSet = "paper"
    strictness: Strictness = "lenient"

    def read(self, reply: str, elements: Sequence[Element]) -> tuple[Action | Unparsable, str]:
        """The action, and how the reply was read when it did not keep to the grammar. Total: no input raises."""
        action = parse(reply, self.reply_format, self.actions)
        if not isinstance(action, Unparsable) or self.strictness == "strict":
            return action, ""
        guess = _guess(reply[:LONGEST], elements, self.actions)
        if guess is None:
            return action, ""
        if isinstance(guess, Unparsable):
            return guess, ""
        return guess, call_of(guess)


def _guess(reply: str, elements: Sequence[Element], actions: ActionSet) -> Action | Unparsable | None:
    """None when there is no call in the reply at all."""
    found = CALL_START.search(_without_remarks(reply))
    if not found:
        return None
    text = _without_remarks(reply)
    function = re.match(r"\w+", text[found.start() :])
    assert function
    inside = _inside(text, found.end())
    if function[0] == "exit":
        one = _ONE_TEXT.fullmatch(inside)
        return meant("exit", {"message": _bare(one[1])}, actions) if one else None
    if function[0] != "do":
        return meant(function[0], {}, actions)
    arguments = _pairs(inside)
    if not arguments:
        return None
    arguments["action"] = _verb(arguments.get("action", ""), actions)
    for name in ("element", "argument") if arguments["action"] == "Drag" else ("element",):
        if name in arguments:
            number = _number_of(arguments[name], elements)
            if isinstance(number, Unparsable):
                return number
            arguments[name] = number
    return meant("do", arguments, actions)


def _without_remarks(reply: str) -> str:
    thought = re.sub(r"<think>.*?(?:</think>|$)", "", reply, flags=re.DOTALL) or reply
    return "\n".join(line for line in thought.splitlines() if not line.lstrip().startswith("#"))


def _inside(text: str, start: int) -> str:
    """What stands between the bracket that ends at `start` and the one that closes it, or the end of the line."""
    quote, at = "", start
    while at < len(text):
        letter = text[at]
        if letter == "\\":
            at += 1
        elif quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == ")":
            return text[start:at]
        at += 1
    return text[start:].partition("\n")[0]


def _pairs(inside: str) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(inside) and (pair := _PAIR.match(inside, at)) and pair.end() > at:
        if pair[1] in found:
            return {}
        found[pair[1]] = _bare(pair[2])
        at = pair.end()
    return found if not inside[at:].strip() else {}


def _bare(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0]:
        return re.sub(r"\\(.)", lambda escaped: "\n" if escaped[1] == "n" else escaped[1], value[1:-1], flags=re.DOTALL)
    return value


def _verb(said: str, actions: ActionSet) -> str:
    def plain(verb: str) -> str:
        return re.sub(r"[\s_-]+", "", verb).casefold()

    return next((verb for verb in VERBS[actions] if plain(verb) == plain(said)), said)


def _number_of(said: str, elements: Sequence[Element]) -> str | Unparsable:
    """Of the element meant: the number in brackets that a copied line ends in, or that of the only one so called."""
    if said.isascii() and said.isdigit():
        return said
    numbered = _IN_BRACKETS.search(said)
    if numbered:
        return numbered[1]
    wanted = " ".join(said.split()).casefold()
    same = [one for one in elements if wanted in (one.name.casefold(), f"{one.role} {one.name}".casefold())]
    if len(same) == 1:
        return str(same[0].id)
    if not same:
        return Unparsable(f'there is no element {said[:60]!r}; give its number, as element="3"')
    numbers = ", ".join(str(one.id) for one in same[:5])
    return Unparsable(f"several elements are called {said[:60]!r}: give the number of one of them ({numbers})")
