"""Runs a command for as long as its owner lives: a script of its own, with nothing but the standard library.

When the pipe on standard input closes, because the owner closed it or was killed, the command's whole process group
ends. What the command left behind in its group ends with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

GRACE_S = 3.0


def main(words: list[str]) -> int:
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_end_with_owner, args=(child,), daemon=True).start()
    code = child.wait()
    _signal_group(child, signal.SIGKILL)
    return code


def _end_with_owner(child: subprocess.Popen[bytes]) -> None:
    # Not sys.stdin: a thread inside a buffered reader would make the interpreter abort at its end.
    while os.read(0, 4096):
        pass
    _signal_group(child, signal.SIGTERM)
    try:
        child.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        _signal_group(child, signal.SIGKILL)


def _signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
