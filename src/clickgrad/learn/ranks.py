"""Several processes that train one model: FSDP2 shards the weights, the ranks share out the micro-batches.

Every rank takes part in every forward and backward pass (the shards travel then), so all must do equally many: who has
no micro-batch left computes one again with weight 0. Rank 0 alone runs the recipe and broadcasts which call of the
learner comes next.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NoReturn, TypeVar

import torch

from clickgrad.errors import UserError

Item = TypeVar("Item")
CALL_WAIT = timedelta(days=2)  # sampling lies between two calls; `torchrun` ends all processes when one dies


@dataclass(frozen=True, slots=True)
class Ranks:
    rank: int = 0
    size: int = 1
    calls: Any = None  # the process group on which rank 0 broadcasts what to do; None: nobody does

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def broadcast(self, message: object) -> None:
        """Rank 0 to the others; nothing happens on the others, and where nobody listens."""
        if self.calls is not None and self.is_first:
            torch.distributed.broadcast_object_list([message], src=0, group=self.calls)

    def receive(self) -> Any:
        """The others: wait for the next message."""
        received = [None]
        torch.distributed.broadcast_object_list(received, src=0, group=self.calls)
        return received[0]

    def share(self, items: Sequence[Item]) -> list[tuple[int, Item, float]]:
        """(number, item, weight) of what this process computes. FSDP2 averages gradients, so a weight is the size.

        Items a b c, two processes:  rank 0 takes a and c,  rank 1 takes b and, with weight 0, a again.
        """
        rounds = -(-len(items) // self.size)
        numbers = [turn * self.size + self.rank for turn in range(rounds)]
        return [
            (number, items[number], float(self.size)) if number < len(items) else (number, items[0], 0.0)
            for number in numbers
        ]

    def sum(self, values: Sequence[float]) -> list[float]:
        """Of each value over all processes."""
        if self.size == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64)
        torch.distributed.all_reduce(tensor)
        return [float(value) for value in tensor]

    def max(self, value: float) -> float:
        if self.size == 1:
            return value
        tensor = torch.tensor(value, dtype=torch.float64)
        torch.distributed.all_reduce(tensor, torch.distributed.ReduceOp.MAX)
        return float(tensor)


ALONE = Ranks()


def join_ranks() -> Ranks:
    """The processes that `torchrun` started together; alone without it. May be called again."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return ALONE
    global _joined
    if _joined is None:
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        torch.distributed.init_process_group(_transport())
        calls = torch.distributed.new_group(backend="gloo", timeout=CALL_WAIT)
        _joined = Ranks(torch.distributed.get_rank(), torch.distributed.get_world_size(), calls)
    return _joined


_joined: Ranks | None = None


def _transport() -> str:
    if not torch.cuda.is_available():
        return "gloo"
    if not torch.distributed.is_nccl_available():
        raise UserError("this torch has no NCCL, so several GPUs cannot learn together: start it without torchrun")
    return "cpu:gloo,cuda:nccl"


def leave_ranks() -> NoReturn:
    """End this process well, without Python's teardown.

    Gloo's threads live on after their group is destroyed. One that lets go of a tensor while Python takes itself apart
    aborts the process, and `torchrun` then calls a run failed that was done.
    """
    torch.distributed.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def shard(model: Any, ranks: Ranks, device: torch.device, rounded: bool = False) -> None:
    """Split the weights among the ranks, layer by layer, in place. They may still lie on the meta device.

    `rounded`: layers compute in bfloat16; weights, gradients and their sums over the ranks stay in float32.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    mesh = init_device_mesh(device.type, (ranks.size,))
    policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32) if rounded else MixedPrecisionPolicy()
    for layer in model.get_decoder().layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)


def reshard(model: Any) -> None:
    """Every rank holds shards again: after a forward pass without a backward one the outermost weights lie whole."""
    if hasattr(model, "reshard"):
        model.reshard()


def full_tensor(tensor: Any) -> torch.Tensor:
    """All of a tensor whose shards lie with the ranks. Every rank must call it."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor  # type: ignore[no-any-return]


def shard_like(mine: Any, tensor: torch.Tensor) -> Any:
    """A whole tensor as this rank holds `mine`: its shard of it, or all. Every rank must call it."""
    if not hasattr(mine, "full_tensor") or tensor.shape != mine.shape:
        return tensor
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(tensor.to(mine.device), mine.device_mesh, mine.placements)
