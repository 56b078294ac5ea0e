"""Weights between two ends of a channel, by gloo."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest
import torch
from torch._C._distributed_c10d import TCPStore

from clickgrad.errors import PolicyError
from clickgrad.policy.vllm_channel import GlooChannel, gloo_pair

WEIGHTS = [torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(2, 3).T, torch.tensor(0.5, dtype=torch.bfloat16)]


def join(channel: GlooChannel) -> Any:
    """The server's end."""
    with ThreadPoolExecutor(1) as pool:
        port = channel.joining["master_port"]
        other = pool.submit(lambda: gloo_pair(TCPStore("127.0.0.1", port, 2, False), 1))
        channel.open()
        return other.result()


def test_weights_arrive_as_they_were_sent_in_their_order() -> None:
    channel = GlooChannel()
    server = join(channel)
    for weight in WEIGHTS:
        received = torch.empty(weight.shape, dtype=weight.dtype)
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(server.recv([received], 0, 0).wait)
            channel.send(weight)
            done.result()
        assert torch.equal(received, weight)
    channel.close()


def test_nobody_outside_this_machine_can_join() -> None:
    process = psutil.Process()
    before = {one.laddr for one in process.net_connections() if one.status == psutil.CONN_LISTEN}
    channel = GlooChannel()
    server = join(channel)
    opened = {one.laddr for one in process.net_connections() if one.status == psutil.CONN_LISTEN} - before
    assert opened
    assert {address.ip for address in opened} == {"127.0.0.1"}
    del server
    channel.close()


def test_a_server_that_is_gone_is_an_error_and_no_endless_wait() -> None:
    channel = GlooChannel()
    server = join(channel)
    del server

    def send_many() -> None:
        for _ in range(50):
            channel.send(torch.zeros(1_000_000))

    with pytest.raises(PolicyError, match="sending a weight"):
        send_many()
    channel.close()
