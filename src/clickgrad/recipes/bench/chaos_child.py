"""The run that is disturbed: the command line as it is, with a clock and an engine that can be told to misbehave.

A script of its own, so that it runs the package of whatever source folder stands first in PYTHONPATH. It is told what
to do by files in the folder that CLICKGRAD_CHAOS names; a file is taken away when what it says has been done.
"""

from __future__ import annotations

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


def main() -> None:
    control = Path(os.environ[CONTROL])
    _let_the_clock_jump(control / CLOCK)
    _let_the_engine_raise(control / ENGINE)
    sys.argv[0] = "clickgrad"
    runpy.run_module("clickgrad", run_name="__main__", alter_sys=True)


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
    """Inside the model, as running out of memory does; only in sampling, which needs no gradients."""
    import torch
    from torch.nn.modules.module import register_module_forward_pre_hook

    def strike(module: torch.nn.Module, inputs: Any) -> None:
        if type(module).__name__.endswith("ForCausalLM") and not torch.is_grad_enabled() and taken(order) is not None:
            raise RuntimeError("chaos: the engine was told to raise")

    register_module_forward_pre_hook(strike)


if __name__ == "__main__":
    main()
