"""What the model sees: system, task, the compressed history and the newest page, as messages and as exact token ids.

A prompt is a concatenation of id segments. What the policy sampled is spliced in as it was sampled; nothing is ever
decoded and encoded again. With two turns behind it, a prompt reads

    <system> | task \n PLACEHOLDER | reply 1 | PLACEHOLDER | reply 2 | page 3 | <reply header>

so the context of one reply is not a prefix of the next one's; docs/architecture.md says more.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, Protocol
from urllib.parse import urlsplit

from clickgrad.agent.grammar import ActionSet, ReplyFormat, render
from clickgrad.agent.lenient import Grammar
from clickgrad.browser.render import Rendering
from clickgrad.errors import UserError
from clickgrad.types import Action, Click, Completion, Exit, Finish, Message, Observation, Prompt, Search, Task

PLACEHOLDER = "** Simplified html **"
# As a rendering says it of what is beyond the viewport: one mark to learn for each direction.
ABOVE = "… more above, scroll up"
CUT = "… more below, scroll down"
SystemPrompt = Literal["full", "short"]
_TAB = re.compile(r",\s*\d+\*?\s")
SEGMENTS_KEPT = 256  # a task is told every turn, a start page to every member of a group

FORMATS = {
    "plain": "A line that starts with # is a remark; then the action.",
    "thinking": "Reply with <think> your thoughts </think> and then <answer> ONE ACTION </answer>.",
}
FULL = """You complete a task on web sites. Every turn shows you the page as {page}. Reply with exactly ONE action; \
the next page comes after it.

Actions:
{actions}
Always give the number as element, never the name. Click links and buttons; Type replaces what a field holds. Numbers \
change from page to page: use those of the newest page. Earlier pages are dropped and only your replies are kept, so \
write down what you will need later. When the task is done, or its question answered, end it with exit.

Replies look like this:
{examples}"""
PAGES: dict[Rendering, str] = {
    "outline": 'lines of text. Whatever can be used has a number in brackets: in "link Blue Mug [3]" the number is 3',
    "html": 'simplified HTML. Whatever can be used has an id: in <a id="3"> Blue Mug </a> the number is 3',
}
SHORT = """Do the task on the web site, one action a turn: do(action="Click", element="3"), \
do(action="Type", argument="text", element="3"), exit(message="answer"). {format}"""
# Every action as it is written, and what it does; docs/actions.md says more, and a test holds it against this.
PAPER_ACTIONS = {
    'do(action="Click", element="3")': "click the link, button or box with the number 3",
    'do(action="Type", argument="blue mug", element="5")': "write into field 5",
    'do(action="Search", argument="blue mug", element="5")': "write into field 5 and press Enter",
    'do(action="Select Dropdown Option", argument="Price", element="7")': "choose the option Price of select 7",
    'do(action="Hover", element="3")': "move the mouse over 3, only to open what appears under it",
    'do(action="Right Click", element="3")': "click 3 with the right button",
    'do(action="Press Enter")': "press Enter",
    'do(action="Scroll Down")': "see what is below",
    'do(action="Scroll Up")': "see what is above",
    'do(action="Switch Tab", argument="1")': "go to tab 1",
    'do(action="Wait")': "wait for the page",
    "go_backward()": "back to the page before",
    "go_forward()": "forward again",
    'exit(message="$12.50")': 'end the task with the answer, "done" if it asks for none, "N/A" if it cannot be done',
}
FULL_ACTIONS = {
    'do(action="Press Key", argument="Control+A")': "press a key, with Control, Shift, Alt or Meta if needed",
    'do(action="Double Click", element="3")': "click 3 twice",
    'do(action="Drag", argument="8", element="3")': "drag 3 and drop it on 8",
    'do(action="Scroll", argument="right", element="3")': "scroll the pane that holds 3 up, down, left or right",
    'do(action="Upload", argument="photo.png", element="3")': "give the file photo.png to 3",
    'do(action="Deselect", argument="Red", element="7")': "take the option Red of select 7 back",
    'do(action="Accept Dialog", argument="my text")': "answer OK to a dialog, with a text if it asks for one",
    'do(action="Dismiss Dialog")': "answer Cancel to a dialog",
}
_SHOWN: tuple[tuple[dict[Rendering, str], Action], ...] = (
    (
        {
            "outline": "the cart is one click away: link Cart [2]",
            "html": 'the cart is one click away: <a id="2"> Cart </a>',
        },
        Click(2),
    ),
    (
        {
            "outline": "I look for the mug with textbox Search [1]",
            "html": 'I look for the mug with <input id="1" type="text" title="Search">',
        },
        Search(1, "blue mug"),
    ),
    (
        dict.fromkeys(("outline", "html"), "the page says that it costs $12.50, which is what was asked"),
        Exit("$12.50"),
    ),
)


def action_table(actions: ActionSet) -> dict[str, str]:
    return PAPER_ACTIONS | (FULL_ACTIONS if actions == "full" else {})


def system_prompt(
    system: SystemPrompt, reply_format: ReplyFormat, actions: ActionSet, rendering: Rendering = "outline"
) -> str:
    if system == "short":
        return SHORT.format(format=FORMATS[reply_format])
    listed = "\n".join(f"{call}   {meaning}" for call, meaning in action_table(actions).items())
    examples = "\n\n".join(render(action, remarks[rendering], reply_format) for remarks, action in _SHOWN)
    return FULL.format(page=PAGES[rendering], actions=listed, examples=examples)


class Tokenizer(Protocol):
    """The little of a tokenizer that prompts need. `policy/models.py` adapts those of transformers."""

    @property
    def end_ids(self) -> tuple[int, ...]:
        """The tokens with which the model ends a reply."""

    def encode(self, text: str) -> list[int]:
        """Ids of plain text; text that looks like a control token stays text."""

    def encode_template(self, text: str) -> list[int]:
        """Ids of the chat template's own text, control tokens included."""

    def decode(self, ids: Sequence[int]) -> str: ...

    def render_chat(self, messages: Sequence[Message], reply_header: bool) -> str:
        """The chat template applied to the messages, as text."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The chat template cut at the contents: what stands around system, user and assistant text, as ids."""

    open: tuple[int, ...]  # before the system text
    system_to_user: tuple[int, ...]
    user_to_reply: tuple[int, ...]
    reply_to_user: tuple[int, ...]  # begins with the token that ends a reply

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Frame:
        marks = [f"\u2063mark{index}\u2063" for index in range(4)]
        roles: list[Literal["system", "user", "assistant"]] = ["system", "user", "assistant", "user"]
        chat = tokenizer.render_chat(
            [Message(role, mark) for role, mark in zip(roles, marks, strict=True)], reply_header=True
        )
        pieces = []
        for mark in marks:
            piece, found, chat = chat.partition(mark)
            if not found:
                raise UserError("the model's chat template drops or repeats messages; use a model with a plain one")
            pieces.append(piece)
        if any(mark in piece for mark in marks for piece in (*pieces, chat)):
            raise UserError("the model's chat template drops or repeats messages; use a model with a plain one")
        opening, system_to_user, user_to_reply, reply_to_user = (
            tuple(tokenizer.encode_template(piece)) for piece in pieces
        )
        if tuple(tokenizer.encode_template(chat)) != user_to_reply:
            raise UserError(
                "the model's chat template shows past replies unlike the one it asks for; use another model"
            )
        if not reply_to_user or reply_to_user[0] not in tokenizer.end_ids:
            raise UserError("the model's chat template does not close a reply with an end token; use another model")
        return cls(opening, system_to_user, user_to_reply, reply_to_user)


class PromptBuilder:
    """Builds prompts for one tokenizer, or for none: then only messages, for policies that read text."""

    def __init__(
        self,
        tokenizer: Tokenizer | None,
        reply_format: ReplyFormat = "thinking",
        system: SystemPrompt = "full",
        page_tokens: int = 4096,
        grammar: Grammar | None = None,
        rendering: Rendering = "outline",
    ) -> None:
        self.grammar = replace(grammar or Grammar(), reply_format=reply_format)
        self.reply_format: ReplyFormat = reply_format
        self._system = system_prompt(system, reply_format, self.grammar.actions, rendering)
        self._tokenizer = tokenizer
        self._encode = lru_cache(SEGMENTS_KEPT)(tokenizer.encode) if tokenizer else None
        self._page_tokens = page_tokens
        self._frame = Frame.of(tokenizer) if tokenizer else None
        self._opening: tuple[int, ...] = ()
        self._placeholder: tuple[int, ...] = ()
        if tokenizer and self._frame:
            self._opening = (*self._frame.open, *tokenizer.encode(self._system), *self._frame.system_to_user)
            self._placeholder = (*tokenizer.encode(PLACEHOLDER), *self._frame.user_to_reply)
            self._check(tokenizer)

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same episode would be told to the model in other tokens."""
        wording = (self._system, self._opening, self._placeholder, self._frame, self.reply_format)
        told = (*wording, self._page_tokens, CUT, ABOVE)
        return hashlib.sha256(repr(told).encode()).hexdigest()[:16]

    def prompt(self, episode: str, task: Task, history: Sequence[Completion], observation: Observation) -> Prompt:
        page, cut = self._page(observation)
        messages, ids = self._messages(task, history, page), self._ids(task, history, page)
        return Prompt(episode, task, observation, messages, ids, cut)

    def reply(self, text: str) -> Completion:
        """A reply that was written, not sampled: as the policy would have had to sample it."""
        if self._tokenizer is None:
            return Completion(text, (), (), Finish.STOP, policy_version=0)
        assert self._frame
        ids = (*self._tokenizer.encode(text), self._frame.reply_to_user[0])
        return Completion(text, ids, (0.0,) * len(ids), Finish.STOP, policy_version=0)

    def _check(self, tokenizer: Tokenizer) -> None:
        """Segment by segment must be what the whole template would have been: else the model reads what it never saw.

        A reply is told to the model as it was sampled, thinking included, so a template that hides some is refused.
        """
        task = Task("check", "", "train", (), "", "Choose.", "", ())
        page = Observation("http://site/", "", ("link Home [0]", "$12.50"), ())
        history = [self.reply(render(Click(element), "I see it. [0]", self.reply_format)) for element in (0, 12)]
        prompt = self.prompt("check", task, history, page)
        whole = tokenizer.render_chat(prompt.messages, reply_header=True)
        if any(past.text not in whole for past in history):
            raise UserError(
                "the model's chat template hides or rewrites parts of past replies, such as their thinking; use "
                "another model" + (", or agent.reply_format=plain" if self.reply_format == "thinking" else "")
            )
        if tuple(tokenizer.encode_template(whole)) != prompt.ids:
            raise UserError("the model's tokens run across the borders of its chat template; use another model")

    def _messages(self, task: Task, history: Sequence[Completion], page: str) -> tuple[Message, ...]:
        messages = [Message("system", self._system)]
        prefix = _task_line(task)
        for past in history:
            messages += [Message("user", prefix + PLACEHOLDER), Message("assistant", past.text)]
            prefix = ""
        return (*messages, Message("user", prefix + page))

    def _ids(self, task: Task, history: Sequence[Completion], page: str) -> tuple[int, ...]:
        if self._encode is None or self._frame is None:
            return ()
        ids = [*self._opening, *self._encode(_task_line(task))]
        for past in history:
            ids += self._placeholder
            ids += past.ids
            # A reply that was cut lacks its end token: the frame supplies it, outside the loss.
            ids += self._frame.reply_to_user[1 if past.finish is Finish.STOP else 0 :]
        ids += self._encode(page)
        ids += self._frame.user_to_reply
        return tuple(ids)

    def _page(self, observation: Observation) -> tuple[str, int | None]:
        """Without space at its end, which some templates would trim; and the first line that had no room."""
        told = lines = page_lines(observation)
        shown = len(lines)
        top = shown - len(observation.lines) + observation.first  # where the page itself begins
        if not self._has_room(lines):
            shown = self._most(len(lines), lambda count: (*lines[:count], CUT))
            told = (*lines[:shown], CUT)
        if shown == top < len(lines):
            # A line with no room of its own is told by its beginning, or nobody could ever scroll past it.
            below = (CUT,) if top + 1 < len(lines) else ()
            length = self._most(len(lines[top]), lambda count: (*lines[:top], f"{lines[top][:count]}…", *below))
            if length > 0:
                told, shown = (*lines[:top], f"{lines[top][:length]}…", *below), top + 1
        cut = None if shown == len(lines) else observation.first + max(0, shown - top)
        return "\n".join(told).rstrip(), cut

    def _most(self, limit: int, told: Callable[[int], Sequence[str]]) -> int:
        """The largest count below `limit` that leaves room, found by halving; 0 if none does."""
        return max(0, bisect_left(range(limit), True, key=lambda count: not self._has_room(told(count))) - 1)

    def _has_room(self, lines: Sequence[str]) -> bool:
        return self._encode is None or len(self._encode("\n".join(lines))) <= self._page_tokens


def _task_line(task: Task) -> str:
    """Ends in one newline and is followed by a printable character, so encoding it alone changes no token."""
    return f"Task: {task.intent}\n"


def page_lines(observation: Observation) -> tuple[str, ...]:
    """The page, from the line the agent has scrolled to, under what surrounds it."""
    above = (ABOVE,) if observation.first else ()
    return (*surroundings(observation), *above, *observation.lines[observation.first :])


def surroundings(observation: Observation) -> tuple[str, ...]:
    """Where we are, other tabs, what became of the last action."""
    lines = [f"Page: {_address(observation.url)}"]
    if len(observation.tabs) > 1:
        tabs = (
            f"{index}{'*' if index == observation.tab else ''} {_tab_title(title)}"
            for index, title in enumerate(observation.tabs)
        )
        lines.append("Tabs: " + ", ".join(tabs))
    if observation.notice:
        lines.append(f"Notice: {observation.notice}")
    return tuple(lines)


def _address(url: str) -> str:
    """Without its scheme. The fragment stays: for a single-page app it is the page."""
    try:
        place = urlsplit(url)
    except ValueError:  # what a browser takes for an address need not be one to Python
        return url
    query, fragment = place.query and f"?{place.query}", place.fragment and f"#{place.fragment}"
    return f"{place.netloc}{place.path}{query}{fragment}"


def _tab_title(title: str) -> str:
    """In quotation marks if it could be read as several tabs."""
    return f'"{title}"' if _TAB.search(title) else title
