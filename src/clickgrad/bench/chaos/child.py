"""The run that is disturbed: the command line as it is, with a clock and an engine that can be told to misbehave.

A script of its own, so that it runs the package of whatever source folder stands first in PYTHONPATH. It is told what
to do by files in the folder that CLICKGRAD_CHAOS names; a file is taken away when what it says has been done.

Importing torch takes longer than most sittings last, so it is done once: for every line on standard input, the words of
a command and a file for what it says, the process forks. Its id is printed, and its exit code when it has ended.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

CONTROL = "CLICKGRAD_CHAOS"
CLOCK, ENGINE = "clock-jump", "engine-raise"
LOOK_S = 0.05
HEAVY = ("torch", "transformers.models.llama", "safetensors.torch", "playwright.async_api", "uvicorn", "pydantic")


def main() -> None:
    for name in HEAVY:
        importlib.import_module(name)
    words = _fork_for_orders()
    if words is None:
        return
    control = Path(os.environ[CONTROL])
    _let_the_clock_jump(control / CLOCK)
    _let_the_engine_raise(control / ENGINE)
    sys.argv = ["clickgrad", *words]
    runpy.run_module("clickgrad", run_name="__main__", alter_sys=True)


def _fork_for_orders() -> list[str] | None:
    """Returns in every fork, with the words of its command; and here with None when there are no more orders."""
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            with open(order["log"], "wb") as log, open(os.devnull, "rb") as nothing:
                os.dup2(nothing.fileno(), 0)
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            return [str(word) for word in order["words"]]
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return None


def taken(order: Path) -> str | None:
    """What the file says, once: of several who look at the same time only one gets it."""
    with suppress(OSError):
        text = order.read_text()
        order.unlink()
        return text
    return None


def _let_the_clock_jump(order: Path) -> None:
    """The clock of the wall, as an administrator or a time server sets it. Others, such as monotonic, do not jump."""
    real, real_ns, shift_s = time.time, time.time_ns, 0.0

    def watch() -> None:
        nonlocal shift_s
        while True:
            jump = taken(order)
            if jump is not None:
                shift_s += float(jump)
            time.sleep(LOOK_S)

    time.time = lambda: real() + shift_s
    time.time_ns = lambda: real_ns() + int(1e9 * shift_s)
    threading.Thread(target=watch, name="chaos-clock", daemon=True).start()


def _let_the_engine_raise(order: Path) -> None:
    """Inside the model, as running out of memory does; only in sampling, which alone is in inference mode."""
    import torch
    from torch.nn.modules.module import register_module_forward_pre_hook

    def strike(module: torch.nn.Module, inputs: Any) -> None:
        sampling = type(module).__name__.endswith("ForCausalLM") and torch.is_inference_mode_enabled()
        if sampling and taken(order) is not None:
            raise RuntimeError("chaos: the engine was told to raise")

    register_module_forward_pre_hook(strike)


if __name__ == "__main__":
    main()
