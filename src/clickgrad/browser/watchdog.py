"""A watch from outside the event loop: what keeps the loop from turning is ended, so that no run hangs for ever.

While browsers are open, the loop beats once a second. A thread counts seconds of its own in which the loop was running
but did not beat. When the process is stopped or the machine sleeps, the thread sleeps along and counts nothing; a loop
that is not running, as while a model is updated, is not expected to beat. First the browsers are killed, which ends
most of what can be waited for; if that does not help, the process ends with the stacks of its threads and exit code 1.
A run goes on from there when it is started again.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
import sys
import threading
from collections.abc import Callable
from types import FrameType

TICK_S = 1.0
# In the browser's code nothing takes longer than a moment. Elsewhere somebody may work in the loop's thread: that gets
# more time than any deadline of an episode.
PATIENCE = 30
LONG_PATIENCE = 1200
_BROWSERS_CODE = (f"clickgrad{os.sep}browser{os.sep}", f"{os.sep}playwright{os.sep}")


class Watchdog:
    """Watches the loop it is made in, from `start` to `stop`, for as long as there is something to wait for (`busy`).

    `kill` and `busy` are called in the thread of the watch.
    """

    def __init__(
        self,
        kill: Callable[[], None],
        busy: Callable[[], bool],
        *,
        tick_s: float = TICK_S,
        patience: int = PATIENCE,
        long_patience: int = LONG_PATIENCE,
        suspects: tuple[str, ...] = _BROWSERS_CODE,
    ) -> None:
        self._kill = kill
        self._busy = busy
        self._tick_s = tick_s
        self._patience = patience
        self._long_patience = long_patience
        self._suspects = suspects
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._beats = 0
        self._over = threading.Event()
        self._next: asyncio.TimerHandle | None = None
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start(self) -> None:
        self._beat()
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        if self._next is not None:
            self._next.cancel()

    def _beat(self) -> None:
        self._beats += 1
        self._loop_thread = threading.get_ident()  # one loop may run in one thread now and in another one later
        self._next = self._loop.call_later(self._tick_s / 2, self._beat)

    def _watch(self) -> None:
        seen, missed, suspicious, killed_at = 0, 0, 0, 0
        while not self._over.wait(self._tick_s):
            if self._beats != seen or not self._loop.is_running() or not self._busy():
                seen, missed, suspicious, killed_at = self._beats, 0, 0, 0
                continue
            missed += 1
            suspicious = suspicious + 1 if self._is_suspect() else 0
            if killed_at and missed - killed_at >= self._patience:
                self._end(missed)
            elif not killed_at and (suspicious >= self._patience or missed >= self._long_patience):
                self._kill()
                killed_at = missed

    def _is_suspect(self) -> bool:
        frame: FrameType | None = sys._current_frames().get(self._loop_thread)
        while frame is not None:
            if any(part in frame.f_code.co_filename for part in self._suspects):
                return True
            frame = frame.f_back
        return False

    def _end(self, missed: int) -> None:
        seconds = missed * self._tick_s
        print(f"error: the event loop has stood still for {seconds:.0f} s; its stack follows", file=sys.stderr)
        faulthandler.dump_traceback(sys.__stderr__ or sys.stderr, all_threads=True)
        os._exit(1)
