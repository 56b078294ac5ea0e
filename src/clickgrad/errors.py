"""Everything clickgrad raises on purpose, and the one place where a foreign exception becomes one of ours.

ClickgradError
├── UserError            the user can mend it: one line, exit code 2
├── LearnError           training cannot go on in a meaningful way: a run exits with 1
└── InfraError           our machinery failed: an episode becomes CRASHED, a run exits with 1
    ├── BrowserError
    │   └── PageError    the page at hand is unusable, though the browser is sound
    ├── WorldError
    └── PolicyError
TokenLimit               the prompt no longer fits the model's context: ends the episode, counts
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class ClickgradError(Exception):
    """The root of all errors raised by clickgrad."""


class UserError(ClickgradError):
    """Says what is wrong, where, and what to do, in one line."""


class LearnError(ClickgradError):
    """The numbers went wrong, not the machinery."""


class InfraError(ClickgradError):
    """Something of ours broke. Never a reward of 0."""


class BrowserError(InfraError):
    """The browser, its page or its driver failed or did not answer in time."""


class PageError(BrowserError):
    """The browser is sound, but this page hangs, floods, crashed or has gone: it may be the agent's own doing."""


class WorldError(InfraError):
    """A world could not be forked, read or closed."""


class PolicyError(InfraError):
    """The policy could not produce a completion."""


class TokenLimit(ClickgradError):
    """The prompt is longer than the model's context."""


@contextmanager
def boundary(kind: type[InfraError], doing: str) -> Iterator[None]:
    """Name what escapes a foreign library. The only `except Exception` of the package.

    `sys.exit()` inside is an error like any other: foreign code ends itself, not the program.

    >>> with boundary(BrowserError, "opening the start page"):
    ...     raise ValueError("no such host")
    Traceback (most recent call last):
    clickgrad.errors.BrowserError: opening the start page: ValueError: no such host
    """
    try:
        yield
    except ClickgradError:
        raise
    except (Exception, SystemExit) as error:
        first_line = (str(error).strip().splitlines() or [""])[0]
        raise kind(f"{doing}: {type(error).__name__}: {first_line}".removesuffix(": ")) from error


def warn(text: str) -> None:
    """A line for the person who started it, where errors go too: what a program reads stays clean."""
    print(f"clickgrad: {text}", file=sys.stderr, flush=True)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` (did you mean 'steps'?)` where something known looks like it; else nothing."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), 1, 0.65)
    return f" (did you mean {near[0]!r}?)" if near else ""
