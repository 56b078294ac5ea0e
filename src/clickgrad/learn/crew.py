"""Several processes that train one model: FSDP2 shards the weights, the crew shares out the micro-batches.

Every process takes part in every forward and backward pass (the shards travel then), so all must do equally many: who
has no micro-batch left computes one again with weight 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Crew:
    rank: int = 0
    size: int = 1

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


def shard(model: Any, crew: Crew) -> None:
    """Split the weights among the crew, layer by layer, in place."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(next(model.parameters()).device.type, (crew.size,))
    for layer in model.get_decoder().layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)


def whole(tensor: Any) -> torch.Tensor:
    """All of a tensor whose shards lie with the crew. Everybody must call it."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor  # type: ignore[no-any-return]
