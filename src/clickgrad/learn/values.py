"""What is expected of a state: a small head on the hidden state of a prompt's last token, fitted by cross-entropy.

The states are those of the policy as it was at the start, so a stored turn has the same state for as long as the run
lasts. Two networks are fitted from different weights, and the smaller of their two chances of success counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from clickgrad.learn.comb import CombAttention, pack
from clickgrad.learn.logprobs import micro_batches
from clickgrad.learn.spec import FitOptions
from clickgrad.policy.device import on_device_of
from clickgrad.types import Sample

Prompt = tuple[int, ...]
BATCH = 64  # states of one step of fitting


@dataclass(frozen=True, slots=True)
class Lot:
    """Turns of one step of the run. Their states are computed together, whatever else is asked: so they stay the same
    to the bit, whether they are known already or computed again after a restart."""

    step: int
    prompts: tuple[Prompt, ...]
    outcomes: tuple[float, ...]  # 0 or 1, of the episode that each turn is of


@dataclass(frozen=True, slots=True)
class Question:
    """What an algorithm asks the learner before it says what is to be learned."""

    lots: tuple[Lot, ...] = ()  # that the head is fitted to; the last one is new
    fit: FitOptions = field(default_factory=FitOptions)
    scored: tuple[Sample, ...] = ()  # whose logprobs under the policy of now are wanted
    temperature: float = 1.0
    micro_tokens: int = 2048


@dataclass(frozen=True, slots=True)
class Answers:
    foreseen: tuple[float, ...] = ()  # values of the last lot, before the head had seen it
    values: tuple[tuple[float, ...], ...] = ()  # of each lot, after fitting
    scored: tuple[Sample, ...] = ()  # with the logprobs of now in place of the sampler's


NO_ANSWERS = Answers()


class ValueHead:
    """Values from states. Fitting goes on where it stopped: weights and moments are part of a checkpoint."""

    def __init__(self, width: int, seed: int) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._nets = torch.nn.ModuleList(
                torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, 1))
                for _ in range(2)
            )
        self._optimizer = torch.optim.Adam(self._nets.parameters())

    @torch.no_grad()
    def values(self, states_ND: torch.Tensor) -> torch.Tensor:
        return torch.stack([torch.sigmoid(net(states_ND)[:, 0]) for net in self._nets]).amin(0)

    def fit(self, states_ND: torch.Tensor, outcomes_N: torch.Tensor, options: FitOptions, seed: int) -> None:
        """Cross-entropy, in an order that follows from the seed."""
        for group in self._optimizer.param_groups:
            group["lr"] = options.lr
        chance = torch.Generator().manual_seed(seed)
        for _ in range(options.epochs):
            for some in torch.randperm(len(states_ND), generator=chance).split(BATCH):  # type: ignore[no-untyped-call]
                self._optimizer.zero_grad(set_to_none=True)
                losses = [
                    torch.nn.functional.binary_cross_entropy_with_logits(net(states_ND[some])[:, 0], outcomes_N[some])
                    for net in self._nets
                ]
                sum(losses[1:], losses[0]).backward()  # type: ignore[no-untyped-call]
                self._optimizer.step()

    def tensors(self) -> dict[str, torch.Tensor]:
        moments = self._optimizer.state_dict()["state"]
        kept = {f"moment.{index}.{name}": value for index, some in moments.items() for name, value in some.items()}
        return {name: value.contiguous() for name, value in (*self._nets.state_dict().items(), *kept.items())}

    @classmethod
    def of(cls, tensors: Mapping[str, torch.Tensor]) -> ValueHead:
        """As it was when its tensors were taken."""
        head = cls(tensors["0.0.weight"].shape[1], 0)
        head._nets.load_state_dict({name: one for name, one in tensors.items() if not name.startswith("moment.")})
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("moment."):
                _, index, moment = name.split(".")
                state.setdefault(int(index), {})[moment] = value
        head._optimizer.load_state_dict(head._optimizer.state_dict() | {"state": state})
        return head


@torch.no_grad()
def prompt_states(model: Any, prompts: Sequence[Prompt], micro_tokens: int) -> torch.Tensor:
    """[N, D]: the hidden state of each prompt's last token. No logits are computed: the decoder alone is asked."""
    known: dict[Prompt, torch.Tensor] = {}
    with on_device_of(model):
        for some in _parts(prompts, micro_tokens):
            comb = pack(some, share=True)
            output = model.get_decoder()(
                input_ids=torch.tensor(comb.ids)[None],
                attention_mask=torch.ones(1, 1, 1, 1, dtype=torch.bool),
                position_ids=torch.tensor(comb.positions)[None],
                use_cache=False,
                pattern=CombAttention(comb),
            )
            lasts = output.last_hidden_state[0, [path[-1] for path in comb.paths]].float().cpu()
            known |= dict(zip(some, lasts, strict=True))
    return torch.stack([known[prompt] for prompt in prompts])


def _parts(prompts: Sequence[Prompt], micro_tokens: int) -> Iterator[list[Prompt]]:
    turns = [Sample(prompt, 1, (0.0,), 0.0, 0.0) for prompt in dict.fromkeys(prompts)]
    return ([turn.ids for turn in micro] for micro in micro_batches(turns, micro_tokens, "comb"))
