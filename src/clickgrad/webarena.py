"""The nouns of WebArena's checks, under its own names: what a task file asks for, and what an episode's end showed.

Values only, as in `types`: how they are read, gathered and judged is the business of `tasks` and `rollout`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# The two public evaluators agree on answers and addresses, and differ on pages: WebArena's own looks at every page in a
# tab of its own and decodes HTML entities; VisualAgentBench's, for WebArena-Lite, goes on in the tab it is in.
Dialect = Literal["webarena", "lite"]


@dataclass(frozen=True, slots=True)
class AnswerRule:
    """One of the reference answers. ua_match: the one expected text is the reason why the task cannot be done."""

    how: Literal["exact_match", "must_include", "fuzzy_match", "ua_match"]
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StringMatch:
    """The answer fulfils the rules. They are in the file's order: `ua_match` overrules those before it."""

    rules: tuple[AnswerRule, ...]


@dataclass(frozen=True, slots=True)
class UrlMatch:
    """The last address contains one of these, and for each of their parameters one of the values."""

    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """A place to look at when the episode is over, and what has to be there."""

    url: str  # "last": the agent's last page; an address; or func:<call>
    locator: str  # "": the HTML of the page; JavaScript from document.… on; lambda:<JavaScript>; or func:<call>
    how: Literal["exact_match", "must_include", "fuzzy_match"]
    expected: tuple[str, ...]
    prepare: tuple[str, ...] = ()  # JavaScript to run before the locator


@dataclass(frozen=True, slots=True)
class ProgramHtml:
    targets: tuple[Target, ...]
    dialect: Dialect


@dataclass(frozen=True, slots=True)
class Probe:
    """What was found at a target."""

    url: str  # as the target has it
    locator: str
    text: str | None  # None: the page is not one on which the locator finds anything


@dataclass(frozen=True, slots=True)
class Question:
    """What only a reader of English can tell: whether two texts say the same, or name the same obstacle."""

    kind: Literal["fuzzy_match", "ua_match"]
    reference: str
    text: str


@dataclass(frozen=True, slots=True)
class Opinion:
    question: Question
    agrees: bool | None  # None: the reply said neither
    reply: str
