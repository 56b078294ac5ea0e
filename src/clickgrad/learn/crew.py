"""Several processes that train one model: FSDP2 shards the weights, the crew shares out the micro-batches.

Every process takes part in every forward and backward pass (the shards travel then), so all must do equally many: who
has no micro-batch left computes one again with weight 0. The first process leads: it alone runs the recipe and tells
the others which call of `Learner` comes next.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NoReturn, TypeVar

import torch

Item = TypeVar("Item")
ORDER_WAIT = timedelta(days=2)  # sampling lies between two orders; `torchrun` ends all processes when one dies


@dataclass(frozen=True, slots=True)
class Crew:
    rank: int = 0
    size: int = 1
    orders: Any = None  # the process group on which the first tells the others what to do; None: nobody tells

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def tell(self, order: object) -> None:
        """The first process to the others; nothing happens where nobody listens."""
        if self.orders is not None and self.leads:
            torch.distributed.broadcast_object_list([order], src=0, group=self.orders)

    def hear(self) -> Any:
        """The others: wait for the next order."""
        heard = [None]
        torch.distributed.broadcast_object_list(heard, src=0, group=self.orders)
        return heard[0]

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


ALONE = Crew()


def join_crew() -> Crew:
    """The processes that `torchrun` started together; alone without it. May be called again."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return ALONE
    global _joined
    if _joined is None:
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        torch.distributed.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
        orders = torch.distributed.new_group(backend="gloo", timeout=ORDER_WAIT)
        _joined = Crew(torch.distributed.get_rank(), torch.distributed.get_world_size(), orders)
    return _joined


_joined: Crew | None = None


def leave_crew() -> NoReturn:
    """End this process well, without Python's teardown.

    Gloo's threads live on after their group is destroyed. One that lets go of a tensor while Python takes itself apart
    aborts the process, and `torchrun` then calls a run failed that was done.
    """
    torch.distributed.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def shard(model: Any, crew: Crew) -> None:
    """Split the weights among the crew, layer by layer, in place."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(next(model.parameters()).device.type, (crew.size,))
    for layer in model.get_decoder().layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)


def fold_up(model: Any) -> None:
    """Everybody holds shards again: after a forward pass without a backward one the outermost weights lie whole."""
    if hasattr(model, "reshard"):
        model.reshard()


def whole(tensor: Any) -> torch.Tensor:
    """All of a tensor whose shards lie with the crew. Everybody must call it."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor  # type: ignore[no-any-return]


def split_like(mine: Any, tensor: torch.Tensor) -> Any:
    """A whole tensor as this process holds `mine`: its shard of it, or all. Everybody must call it."""
    if not hasattr(mine, "full_tensor") or tensor.shape != mine.shape:
        return tensor
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(tensor.to(mine.device), mine.device_mesh, mine.placements)
