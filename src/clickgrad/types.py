"""The nouns that pass between the rooms. Frozen values only: no behaviour beyond small derived facts, no I/O.

One word per idea: a *turn* is one observation, reply and action; a *step* is one optimizer step; a *trajectory* is
what one episode left behind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from clickgrad.webarena import Opinion, Probe, ProgramHtml, StringMatch, UrlMatch

Scalar = str | int | float | bool | None
Split = Literal["train", "test", "demo"]
TAB_SEPARATOR = " |AND| "  # as WebArena's task files write it

# --- worlds ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row of a world that differs from the start: the columns named are those that matter.

    insert: the new row's values. delete: the old row's values. update: `key` plus the new values of changed columns.
    """

    table: str
    op: Literal["insert", "update", "delete"]
    values: tuple[tuple[str, Scalar], ...]
    key: Scalar = None


# --- tasks ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """The message of `exit(...)`. exact: equal after normalising; includes: every expected text occurs in it."""

    expected: tuple[str, ...]
    mode: Literal["exact", "includes"] = "exact"


@dataclass(frozen=True, slots=True)
class UrlCheck:
    """The page the agent ended on: same site, path and route (`#/issues`), and at least these query parameters."""

    site: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    fragment: str = ""  # what follows the #; "" expects no route, and leaves it open at which anchor of the page


@dataclass(frozen=True, slots=True)
class PageCheck:
    """The text of the final page contains every one of these."""

    includes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateCheck:
    """The world's rows after the episode: exactly these changes, in any order, and nothing else."""

    changes: tuple[RowChange, ...]


@dataclass(frozen=True, slots=True)
class RewardCheck:
    """The reward that the page itself gave, where a site judges by itself."""

    at_least: float = 1.0


@dataclass(frozen=True, slots=True)
class CustomCheck:
    """A check in the user's own code, run when the episode ends; what it found is part of the evidence."""

    name: str


WebArenaCheck = StringMatch | UrlMatch | ProgramHtml
Check = AnswerCheck | UrlCheck | PageCheck | StateCheck | RewardCheck | CustomCheck | WebArenaCheck


@dataclass(frozen=True, slots=True)
class Task:
    id: str
    suite: str
    split: Split
    sites: tuple[str, ...]
    template: str
    intent: str
    start_url: str  # several, joined by TAB_SEPARATOR, are opened as tabs, the first in front
    checks: tuple[Check, ...]
    user: str | None = None
    expert_turns: int | None = None
    params: tuple[tuple[str, Scalar], ...] = ()  # what the template was filled with; experts read it, agents never do

    def param(self, name: str) -> Scalar:
        return dict(self.params)[name]

    @property
    def start_urls(self) -> tuple[str, ...]:
        return tuple(self.start_url.split(TAB_SEPARATOR))


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check in the user's own code said."""

    name: str
    passed: bool | None  # None: the check itself failed, so nobody knows
    reason: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that judging may look at, gathered when the episode ended."""

    answer: str | None
    url: str
    page_text: str
    changes: tuple[RowChange, ...]
    page_reward: float | None = None  # None when the page gave none
    findings: tuple[Finding, ...] = ()
    probes: tuple[Probe, ...] = ()
    opinions: tuple[Opinion, ...] | None = None  # None: there was nobody to ask


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class CheckResult:
    check: str  # the kind of check: answer, url, page, state, reward, or the name of one's own
    passed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    outcome: Outcome
    results: tuple[CheckResult, ...] = ()

    @property
    def reward(self) -> float | None:
        """None when nobody can say."""
        return None if self.outcome is Outcome.UNJUDGED else float(self.outcome is Outcome.PASSED)


# --- browser --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Element:
    """Something on the page that can be acted on. `id` is valid for the observation it came with, and no other."""

    id: int
    role: str  # link, button, textbox, checkbox, radio, select, ...
    name: str
    value: str = ""
    options: tuple[str, ...] = ()  # of a select, as visible text
    # Left, top, width, height in the viewport, for people who look on. Fonts decide it: no two pages differ by it.
    box: tuple[int, int, int, int] | None = field(default=None, compare=False)
    line: int | None = field(default=None, compare=False)  # of the observation's lines; None in files from before


@dataclass(frozen=True, slots=True)
class Observation:
    url: str
    title: str
    lines: tuple[str, ...]  # the page as the model reads it, one element or text a line
    elements: tuple[Element, ...]
    tabs: tuple[str, ...] = ()  # titles of the open tabs
    tab: int = 0
    notice: str = ""  # what became of the last action, when that is worth saying
    first: int = 0  # of `lines`, the one the model is shown first: the agent has scrolled past those before it
    # What each line says in the page's own words, whatever the rendering: a text, or an element's name.
    texts: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class BlockedHost:
    """A place outside its task's sites, and how often a session's pages tried in vain to reach it."""

    host: str  # with its port, where the address has one
    requests: int


@dataclass(frozen=True, slots=True)
class Click:
    element: int


@dataclass(frozen=True, slots=True)
class RightClick:
    element: int


@dataclass(frozen=True, slots=True)
class Type:
    element: int
    text: str


@dataclass(frozen=True, slots=True)
class Search:
    """Type and submit."""

    element: int
    text: str


@dataclass(frozen=True, slots=True)
class Hover:
    element: int


@dataclass(frozen=True, slots=True)
class Select:
    element: int
    option: str


@dataclass(frozen=True, slots=True)
class ScrollUp:
    pass


@dataclass(frozen=True, slots=True)
class ScrollDown:
    pass


@dataclass(frozen=True, slots=True)
class PressEnter:
    pass


@dataclass(frozen=True, slots=True)
class SwitchTab:
    tab: int


@dataclass(frozen=True, slots=True)
class Wait:
    pass


@dataclass(frozen=True, slots=True)
class GoBackward:
    pass


@dataclass(frozen=True, slots=True)
class GoForward:
    pass


# The rest is of `agent.actions = "full"`: what people do besides.


@dataclass(frozen=True, slots=True)
class PressKey:
    keys: str  # "Escape", "Control+A"


@dataclass(frozen=True, slots=True)
class DoubleClick:
    element: int


@dataclass(frozen=True, slots=True)
class Drag:
    element: int
    to: int  # the element it is dropped on


@dataclass(frozen=True, slots=True)
class Scroll:
    """Of the pane that the element is or is in."""

    element: int
    direction: str  # up, down, left, right


@dataclass(frozen=True, slots=True)
class Upload:
    element: int
    file: str  # its name in the folder of files that may be given


@dataclass(frozen=True, slots=True)
class AnswerDialog:
    accept: bool
    text: str = ""  # for a dialog that asks for one


@dataclass(frozen=True, slots=True)
class Deselect:
    element: int
    option: str


@dataclass(frozen=True, slots=True)
class Exit:
    message: str


@dataclass(frozen=True, slots=True)
class Unparsable:
    """A reply that is no action. It costs the turn, and the next observation says why."""

    reason: str


PageAction = (
    Click
    | RightClick
    | Type
    | Search
    | Hover
    | Select
    | ScrollUp
    | ScrollDown
    | PressEnter
    | SwitchTab
    | Wait
    | GoBackward
    | GoForward
    | PressKey
    | DoubleClick
    | Drag
    | Scroll
    | Upload
    | AnswerDialog
    | Deselect
)
Action = PageAction | Exit

# --- agent and policy -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a policy is asked. `ids` is exact and empty only for policies that read text."""

    episode: str
    task: Task
    observation: Observation
    messages: tuple[Message, ...]
    ids: tuple[int, ...] = ()
    cut: int | None = None  # of the observation's lines, the first that had no room below; None when all are told


@dataclass(frozen=True, slots=True)
class Sampling:
    max_new_tokens: int
    temperature: float = 1.0  # 0 is greedy
    seed: int = 0


class Finish(StrEnum):
    STOP = "stop"  # the policy ended its reply; the end token is the last of `ids`
    LENGTH = "length"  # cut at max_new_tokens or at the end of the context


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply as sampled. `logprobs` are the model's, at the sampling temperature, one for each of `ids`."""

    text: str
    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish: Finish
    policy_version: int


# --- rollout --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Turn:
    observation: Observation
    prompt_ids: tuple[int, ...]
    completion: Completion
    action: Action | Unparsable
    policy_s: float = 0.0
    browser_s: float = 0.0
    screenshot: str | None = None  # file name inside the run folder
    paged: bool = False  # the action only moved on through the page's lines; the browser was left alone
    world: str = ""  # hash of what the world had become when the page was looked at; "" where nobody can tell
    read_as: str = ""  # how a reply that kept to the grammar only in sense was read; "" for one that kept to it


class End(StrEnum):
    STOPPED = "stopped"  # the agent said exit(...), or the page said that it is over
    TURN_LIMIT = "turn_limit"
    TOKEN_LIMIT = "token_limit"  # the next prompt would not fit the model's context
    PAGE_BROKEN = "page_broken"  # the agent's own actions made the page unusable, again each time they were repeated
    CRASHED = "crashed"  # our machinery failed; never a reward


@dataclass(frozen=True, slots=True)
class Given:
    """Where the first turns of an episode come from, if it was not the policy that chose them here and now."""

    turns: int  # so many, performed again without sampling; they carry no loss
    episode: str  # whose turns they are
    source: Literal["demo", "own", "branch"]  # a demonstration, an earlier success, an episode of the same group


@dataclass(frozen=True, slots=True)
class Opening:
    """How an episode is to begin, and to be sampled, where that is not as usual."""

    turns: tuple[Turn, ...] = ()  # performed first, each on the page it was recorded on
    given: Given | None = None
    greedy: bool = False


USUAL = Opening()


@dataclass(frozen=True, slots=True)
class Trajectory:
    episode: str  # unique within a run; says where the episode belongs, e.g. "step-0003/task-00012/member-5/try-0"
    task: Task
    seed: int
    turns: tuple[Turn, ...]
    end: End
    evidence: Evidence | None  # what was judged; with it a trajectory can be judged again
    verdict: Verdict
    reward: float | None  # None when the machinery failed or the verdict is missing
    error: str | None
    seconds: float
    policy: str
    prompt_format: str  # fingerprint of tokenizer, template and reply format; training refuses another's
    blocked: tuple[BlockedHost, ...] = ()  # what the fence stopped
    given: Given | None = None  # None: every turn was chosen by the policy, from the task's own start

    @property
    def chosen(self) -> tuple[Turn, ...]:
        """The turns that the policy chose in this episode."""
        return self.turns[self.given.turns :] if self.given else self.turns

    @property
    def usable(self) -> bool:
        return self.reward is not None

    @property
    def answer(self) -> str | None:
        return self.evidence.answer if self.evidence else None

    def staleness(self, version: int) -> int:
        """By how many versions the oldest sampled token is older than `version`; 0 without replies."""
        return max((version - turn.completion.policy_version for turn in self.chosen), default=0)


# --- learn ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sample:
    """One turn, ready to train on: the ids the policy saw and the ids it sampled, in that order.

    `weight` is this turn's share of the batch loss before the division by its own number of tokens.
    """

    ids: tuple[int, ...]
    reply_len: int  # the last `reply_len` of `ids` were sampled and carry loss
    logprobs: tuple[float, ...]  # the sampler's, one for each sampled id
    advantage: float
    weight: float
