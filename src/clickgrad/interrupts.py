"""Ctrl-C and SIGTERM: the first one ends what runs, in order; more of them change nothing until that is done.

Which it is stands in the handler of SIGINT itself: `_first` until something was heard, `_again` from then on.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Coroutine
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE = b"clickgrad: ending what was started, a moment (Ctrl-\\ ends it at once and may leave processes behind)\n"


def listen() -> None:
    """From now on. A shell may have started us in the background with SIGINT ignored: then only SIGTERM ends us."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _first)
    signal.signal(signal.SIGTERM, _terminate)


def interrupted() -> bool:
    return signal.getsignal(signal.SIGINT) is _again


def end_listening() -> None:
    """All is ended: a signal that comes while Python shuts down has nothing left to say."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _first(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, _again)
    raise KeyboardInterrupt


def _again(number: int, frame: FrameType | None) -> None:
    os.write(2, PATIENCE)  # print is not to be entered twice


def _terminate(number: int, frame: FrameType | None) -> None:
    # Not KeyboardInterrupt itself: an event loop turns SIGINT into an orderly cancellation.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, _first)
    signal.raise_signal(signal.SIGINT)


def run(work: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`, which cancels the work on the first SIGINT, but on the next would raise while the work ends."""
    with asyncio.Runner() as runner:
        if signal.getsignal(signal.SIGINT) is not _first or threading.current_thread() is not threading.main_thread():
            return runner.run(work)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # asyncio replaces no other
        try:
            return runner.run(_cancelled_once(work))
        finally:
            if not interrupted():
                signal.signal(signal.SIGINT, _first)


async def _cancelled_once(work: Coroutine[Any, Any, T]) -> T:
    cancel = signal.getsignal(signal.SIGINT)  # asyncio's
    assert callable(cancel)

    def once(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, _again)
        cancel(number, frame)

    signal.signal(signal.SIGINT, once)
    return await work
