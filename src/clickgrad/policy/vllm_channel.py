"""Weights straight from the learner to a vLLM server: NCCL between GPUs, gloo between CPUs. Knows only tensors.

The server is number 1 of a group of two, the learner's first process number 0: a server that dies breaks its own
channel and no other. When and what is sent is said over HTTP (`vllm_client`, vLLM's own weight-transfer endpoints); on
GPUs the other end is vLLM's own engine `nccl`, on CPUs, which vLLM has none for, `vllm_worker.GlooReceiving`.
"""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, Protocol

import torch
from torch._C._distributed_c10d import PrefixStore, ProcessGroupGloo, TCPStore

from clickgrad.errors import PolicyError, boundary

Transport = Literal["nccl", "gloo"]
OPEN_TIMEOUT_S = 300.0
SEND_TIMEOUT_S = 120.0  # of one weight
POLL_S = 0.0005
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Weight:
    """What will be sent: the server makes room for it."""

    name: str
    dtype: str  # as torch calls it
    shape: tuple[int, ...]


class Channel(Protocol):
    """From this process to one server, on this machine."""

    @property
    def joining(self) -> dict[str, Any]:
        """What the server is told in order to join, while `open` waits for it."""

    def open(self) -> None: ...

    def send(self, tensor: torch.Tensor) -> None:
        """Returns when it has arrived, or raises PolicyError: then the channel is of no use any more."""

    def close(self) -> None: ...


def make_channel(transport: Transport) -> Channel:
    return NcclChannel() if transport == "nccl" else GlooChannel()


class GlooChannel:
    def __init__(self) -> None:
        listening = socket.socket()  # bound by us: torch would listen on every network there is
        listening.bind((HOST, 0))
        listening.listen()
        port, wait = listening.getsockname()[1], timedelta(seconds=OPEN_TIMEOUT_S)
        self._store = TCPStore(HOST, port, 2, True, wait, wait_for_workers=False, master_listen_fd=listening.detach())
        self._group: Any = None

    @property
    def joining(self) -> dict[str, Any]:
        return _joining(self._store.port)

    def open(self) -> None:
        with boundary(PolicyError, "opening the way for weights"):
            self._group = gloo_pair(self._store, 0)

    def send(self, tensor: torch.Tensor) -> None:
        with boundary(PolicyError, "sending a weight"):
            self._group.send([tensor.detach().to("cpu").contiguous()], 1, 0).wait()

    def close(self) -> None:
        self._group = None  # its connections close with it


def gloo_pair(store: Any, rank: int) -> Any:
    """A group of two beside torch's own groups, within this machine."""
    options = ProcessGroupGloo._Options()  # type: ignore[attr-defined]  # not in torch's stubs
    options._timeout = timedelta(seconds=SEND_TIMEOUT_S)
    options._devices = [ProcessGroupGloo.create_device(hostname=HOST)]
    options._threads = 2
    return ProcessGroupGloo(PrefixStore("clickgrad", store), rank, 2, options)


class NcclChannel:
    """Never run: there was no GPU."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind((HOST, 0))
            self._port = int(probe.getsockname()[1])
        self._group: Any = None

    @property
    def joining(self) -> dict[str, Any]:
        return _joining(self._port)

    def open(self) -> None:
        with boundary(PolicyError, "opening the way for weights"):
            from vllm.distributed.weight_transfer.nccl_common import trainer_init

            self._group = trainer_init({"master_address": HOST, "master_port": self._port, "world_size": 2})

    def send(self, tensor: torch.Tensor) -> None:
        """NCCL itself would wait for ever for a server that died."""
        with boundary(PolicyError, "sending a weight"):
            stream = torch.cuda.current_stream()
            arrived: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._group.broadcast(tensor.detach().contiguous(), src=0, stream=stream)
            arrived.record(stream)
            deadline = time.monotonic() + SEND_TIMEOUT_S
            while not arrived.query():
                if time.monotonic() > deadline:
                    raise TimeoutError(f"not taken within {SEND_TIMEOUT_S:.0f} s")
                time.sleep(POLL_S)

    def close(self) -> None:
        self._group = None


def _joining(port: int) -> dict[str, Any]:
    """As vLLM's engine `nccl` reads it."""
    return {"master_address": HOST, "master_port": port, "rank_offset": 1, "world_size": 2, "packed": False}
