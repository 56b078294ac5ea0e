"""Run a command and tell the most memory that it and all it started held: peak_memory.py clickgrad train --run DIR.

Pages that processes share, as those of a browser do, are counted once (Linux's PSS). Looked at twice a second.
"""

from __future__ import annotations

import subprocess
import sys
import time

from clickgrad.bench.figures import process_tree_mb

LOOK_S = 0.5


def main(command: list[str]) -> int:
    if not command:
        print("usage: peak_memory.py COMMAND ...", file=sys.stderr)
        return 2
    peak = 0.0
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            peak = max(peak, process_tree_mb(process.pid))
            time.sleep(LOOK_S)
    print(f"{peak / 1000:.2f} GB at most", file=sys.stderr)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
