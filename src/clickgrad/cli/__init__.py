"""The command line: a user's mistake is one line and exit code 2. Heavy imports wait until the arguments are known.

Commands are declared in `training`, `tools`, `studies` and `benches`.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

from clickgrad.cli.declaring import DONE, FAILED, INTERRUPTED, MISTAKE
from clickgrad.cli.parser import build_parser
from clickgrad.errors import ClickgradError, UserError
from clickgrad.interrupts import end_listening, interrupted, listen

EXTRAS = dict.fromkeys(("torch", "transformers", "peft", "safetensors", "gguf"), "torch") | {
    "httpx": "chat",
    "ray": "ray",
}
NO_PLACE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    listen()
    try:
        return int(options.run_command(options))
    except UserError as error:
        return _complain(str(error), MISTAKE)
    except ClickgradError as error:
        if interrupted():  # what was cut short may fail in its own way
            return _tell_interruption()
        return _complain(f"{type(error).__name__}: {error}", FAILED)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        return _complain(f"{error.name} is not installed: pip install 'clickgrad[{extra}]'", MISTAKE)
    except BrokenPipeError:
        # The reader of our output went away (`clickgrad tasks | head`): nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        if error.errno not in NO_PLACE:
            raise
        place = error.filename or "the run folder"
        return _complain(
            f"cannot write {place} ({error.strerror}): make room or permit writing, then run it again", MISTAKE
        )
    except KeyboardInterrupt:
        return _tell_interruption()


def _tell_interruption() -> int:
    end_listening()
    return _complain("interrupted; the same command goes on from here", INTERRUPTED)


def _complain(text: str, code: int) -> int:
    print(f"clickgrad: {text}", file=sys.stderr)
    return code
