from __future__ import annotations

import signal

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tiny tensors are slower on several threads, and threads that spin starve the browser."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """A shell without job control starts what runs in its background with SIGINT ignored, which children inherit."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
