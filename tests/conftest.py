from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tiny tensors are slower on several threads, and threads that spin starve the browser."""
    import torch

    torch.set_num_threads(1)
