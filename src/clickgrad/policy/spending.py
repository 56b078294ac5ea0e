"""What a hosted model has cost so far: requests, tokens and, where the user gave prices, money."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(slots=True)
class Spent:
    requests: int = 0  # sent, repeated ones included
    retries: int = 0
    unmetered: int = 0  # answers that did not say what they cost
    input_tokens: int = 0
    output_tokens: int = 0

    def count(self, usage: Any) -> None:
        """`usage` is what the endpoint said, if it said anything."""
        match usage:
            case {"prompt_tokens": int(read), "completion_tokens": int(written)}:
                self.input_tokens += read
                self.output_tokens += written
            case _:
                self.unmetered += 1

    def cost(self, input_price: float, output_price: float) -> float:
        """Prices are per million tokens."""
        return (self.input_tokens * input_price + self.output_tokens * output_price) / 1e6

    def text(self, input_price: float, output_price: float) -> str:
        parts = [
            f"{self.requests} requests ({self.retries} repeated), {self.input_tokens} tokens in, "
            f"{self.output_tokens} tokens out"
        ]
        if self.unmetered:
            parts.append(f"{self.unmetered} answers did not say how many tokens they took")
        if input_price or output_price:
            parts.append(f"cost {self.cost(input_price, output_price):.4f}")
        return "; ".join(parts)


@runtime_checkable
class Metered(Protocol):
    """A policy that someone pays for."""

    @property
    def spent(self) -> Spent: ...
