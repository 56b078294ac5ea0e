"""What is expected of a state: a small head on the hidden state of a prompt's last token, fitted by cross-entropy.

The states are those of the policy as it was at the start, so a stored turn has the same state for as long as the run
lasts. Two networks are fitted from different weights, and the smaller of their two chances of success counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from clickgrad.learn.comb import CombAttention, pack
from clickgrad.learn.logprobs import micro_batches
from clickgrad.learn.progress import Prompt
from clickgrad.learn.spec import FitOptions
from clickgrad.policy.device import on_device_of
from clickgrad.types import Sample

BATCH = 64  # states of one step of fitting
LEAST_SPREAD, FARTHEST = 1e-6, 5.0  # of a number of the state; and in such spreads from its mean


class ValueHead:
    """Values from states. Fitting goes on where it stopped: weights and moments are part of a checkpoint.

    All prompts end alike, so their last states have most in common, and a few of their numbers are large: what differs
    is seen only when each number is measured against its mean and spread in the pool.
    """

    def __init__(self, width: int, seed: int) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._nets = torch.nn.ModuleList(_net(width) for _ in range(2))
        self._scale = {"scale.mean": torch.zeros(width), "scale.spread": torch.ones(width)}
        self._optimizer = torch.optim.Adam(self._nets.parameters())

    @torch.no_grad()
    def values(self, states_ND: torch.Tensor) -> torch.Tensor:
        scaled_ND = self._scaled(states_ND)
        return torch.stack([torch.sigmoid(net(scaled_ND)[:, 0]) for net in self._nets]).amin(0)

    def _scaled(self, states_ND: torch.Tensor) -> torch.Tensor:
        away_ND = (states_ND - self._scale["scale.mean"]) / self._scale["scale.spread"]
        return away_ND.clamp(-FARTHEST, FARTHEST)

    def fit(self, states_ND: torch.Tensor, outcomes_N: torch.Tensor, options: FitOptions, seed: int) -> None:
        """Cross-entropy, in an order that follows from the seed."""
        for group in self._optimizer.param_groups:
            group["lr"] = options.lr
        spread_D = states_ND.std(0, correction=0).clamp_min(LEAST_SPREAD)
        self._scale = {"scale.mean": states_ND.mean(0), "scale.spread": spread_D}
        scaled_ND = self._scaled(states_ND)
        chance = torch.Generator().manual_seed(seed)
        for _ in range(options.epochs):
            for some in torch.randperm(len(scaled_ND), generator=chance).split(BATCH):  # type: ignore[no-untyped-call]
                self._optimizer.zero_grad(set_to_none=True)
                losses = [
                    torch.nn.functional.binary_cross_entropy_with_logits(net(scaled_ND[some])[:, 0], outcomes_N[some])
                    for net in self._nets
                ]
                sum(losses[1:], losses[0]).backward()  # type: ignore[no-untyped-call]
                self._optimizer.step()

    def tensors(self) -> dict[str, torch.Tensor]:
        moments = self._optimizer.state_dict()["state"]
        kept = {f"moment.{index}.{name}": value for index, some in moments.items() for name, value in some.items()}
        return {
            name: value.contiguous()
            for name, value in (*self._nets.state_dict().items(), *self._scale.items(), *kept.items())
        }

    @classmethod
    def of(cls, tensors: Mapping[str, torch.Tensor]) -> ValueHead:
        """As it was when its tensors were taken."""
        head = cls(tensors["0.0.weight"].shape[1], 0)
        head._scale = {name: tensors[name] for name in head._scale}
        head._nets.load_state_dict({name: tensors[name] for name in head._nets.state_dict()})
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("moment."):
                _, index, moment = name.split(".")
                state.setdefault(int(index), {})[moment] = value
        head._optimizer.load_state_dict(head._optimizer.state_dict() | {"state": state})
        return head


def _net(width: int) -> torch.nn.Sequential:
    """As long as nothing is known, all chances are one half."""
    last = torch.nn.Linear(width, 1)
    torch.nn.init.zeros_(last.weight)
    torch.nn.init.zeros_(last.bias)
    return torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(), last)


@torch.no_grad()
def prompt_states(model: Any, prompts: Sequence[Prompt], micro_tokens: int) -> torch.Tensor:
    """[N, D]: the hidden state of each prompt's last token."""
    known: dict[Prompt, torch.Tensor] = {}
    with on_device_of(model), _listening(model) as heard:
        for some in _parts(prompts, micro_tokens):
            comb = pack(some, share=True)
            model(
                input_ids=torch.tensor(comb.ids)[None],
                attention_mask=torch.ones(1, 1, 1, 1, dtype=torch.bool),
                position_ids=torch.tensor(comb.positions)[None],
                use_cache=False,
                logits_to_keep=1,  # none is needed, and 0 would be all
                pattern=CombAttention(comb),
            )
            lasts = heard.pop()[0, [path[-1] for path in comb.paths]].float().cpu()
            known |= dict(zip(some, lasts, strict=True))
    return torch.stack([known[prompt] for prompt in prompts])


@contextmanager
def _listening(model: Any) -> Iterator[list[torch.Tensor]]:
    """What the decoder says in each pass. The whole model is called: a sharded one gathers its weights only then."""
    heard: list[torch.Tensor] = []
    hook = model.get_decoder().register_forward_hook(lambda module, given, said: heard.append(said.last_hidden_state))
    try:
        yield heard
    finally:
        hook.remove()


def _parts(prompts: Sequence[Prompt], micro_tokens: int) -> Iterator[list[Prompt]]:
    turns = [Sample(prompt, 1, (0.0,), 0.0, 0.0) for prompt in dict.fromkeys(prompts)]
    return ([turn.ids for turn in micro] for micro in micro_batches(turns, micro_tokens, "comb"))
