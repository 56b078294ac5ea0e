"""Start `clickgrad demo` from an installed package, wait for its first verdict, and end it.

python scripts/try_demo.py build/empty/bin/clickgrad
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
import urllib.request

PATIENCE_S = 180


def main(command: str) -> int:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as run:
        options = ["demo", "--no-open", "--once", "--port", "0", "--pace", "0", "--run", run]
        demo = subprocess.Popen([command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            said = ""
            while not (address := re.search(r"http://[\d.:]+", said)):
                line = demo.stdout.readline() if demo.stdout else ""
                if not line:
                    return failed(said)
                said += line
            with urllib.request.urlopen(address[0], timeout=10) as page:
                if b"<title>" not in page.read():
                    return failed(f"{address[0]} answered {page.status} without a page")
            print(f"demo: its page answered after {time.monotonic() - began:.1f} s")
            rest, _ = demo.communicate(timeout=PATIENCE_S)
            print(f"demo: {rest.strip().splitlines()[-1]}")
            return demo.returncode
        finally:
            demo.kill()


def failed(said: str) -> int:
    print(f"demo failed: {said.strip()}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
