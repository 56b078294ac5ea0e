from __future__ import annotations

import asyncio

import pytest

from clickgrad.errors import PolicyError
from clickgrad.policy.engine_thread import EngineThread

pytestmark = pytest.mark.anyio


async def nothing() -> None: ...


async def number() -> int:
    return 7


async def end_the_thread() -> None:
    raise SystemExit


async def ask_again_and_again(thread: EngineThread) -> None:
    while True:
        await thread.run(number)
        await asyncio.sleep(0.1)


async def test_a_thread_that_ends_fails_who_waits_and_who_asks_later() -> None:
    """A cancellation that nobody asked for would end the asking episode as if its run had been stopped."""
    thread = EngineThread("toy engine")
    assert await thread.run(number) == 7
    waiting = [asyncio.create_task(thread.run(asyncio.sleep, 600)) for _ in range(3)]
    await asyncio.sleep(0.05)
    with pytest.raises(SystemExit):
        thread.call(end_the_thread)
    for task in waiting:
        with pytest.raises(PolicyError, match="the toy engine has ended: its thread is gone"):
            await asyncio.wait_for(task, 30)
    with pytest.raises(PolicyError, match="the toy engine has ended"):
        await asyncio.wait_for(ask_again_and_again(thread), 30)  # until its loop is closed it may still answer
    with pytest.raises(PolicyError, match="the toy engine has ended"):
        thread.call(number)
    thread.close(nothing)
    thread.close(nothing)


async def test_who_is_cancelled_stays_cancelled() -> None:
    thread = EngineThread("toy engine")
    task = asyncio.create_task(thread.run(asyncio.sleep, 600))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await thread.run(number) == 7
    thread.close(nothing)
