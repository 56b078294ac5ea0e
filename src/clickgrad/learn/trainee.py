"""The policy in training: what is trained, what stays frozen, and the weights the sampler uses.

Full-parameter: the sampler shares the trained weights, unless sampling goes on during an update. LoRA: the sampler has
weights of its own, base plus adapter, added up anew after every step, so sampling pays nothing for the adapter and
rounding never accumulates.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from clickgrad.learn.logprobs import Batch, reply_logprobs
from clickgrad.policy.models import LoadedModel


class Trainee:
    def __init__(
        self,
        loaded: LoadedModel,
        lora_rank: int,
        lora_alpha: int,
        seed: int,
        with_reference: bool,
        separate_sampler: bool = False,
    ) -> None:
        """`separate_sampler`: the sampler keeps its weights until it is refreshed, whatever happens to the trained."""
        self._lora = lora_rank > 0
        self._start: Any = None
        if self._lora:
            self.sampler = replace(loaded, model=copy.deepcopy(loaded.model))
            self.model = _with_adapter(loaded.model, lora_rank, lora_alpha, seed)
        else:
            self.sampler = replace(loaded, model=copy.deepcopy(loaded.model)) if separate_sampler else loaded
            self.model = loaded.model
            self._start = copy.deepcopy(loaded.model) if with_reference else None
        # Dropout would make the policy that is trained another one than the policy that sampled.
        self.model.eval()

    @torch.no_grad()
    def reference(self, batch: Batch, temperature: float = 1.0) -> torch.Tensor:
        """Logprobs under the policy as it was at the start."""
        if self._lora:
            with self.model.disable_adapter():
                return reply_logprobs(self.model, batch, temperature)[0]
        return reply_logprobs(self._start, batch, temperature)[0]

    @torch.no_grad()
    def refresh_sampler(self) -> None:
        """After an update: the sampler's weights become the trained ones."""
        if not self._lora and self.sampler.model is not self.model:
            for mine, trained in zip(self.sampler.model.parameters(), self.model.parameters(), strict=True):
                mine.copy_(trained)
        for name, layer in self._adapted():
            self.sampler.model.get_submodule(name).weight.copy_(
                layer.base_layer.weight + layer.get_delta_weight("default")
            )

    def weights(self) -> dict[str, torch.Tensor]:
        """What a checkpoint must hold: the trained parameters."""
        return {name: value.detach() for name, value in self.model.named_parameters() if value.requires_grad}

    @torch.no_grad()
    def load_weights(self, weights: dict[str, torch.Tensor]) -> None:
        for name, value in self.model.named_parameters():
            if value.requires_grad:
                value.copy_(weights[name])
        self.refresh_sampler()

    def export(self, folder: Path) -> None:
        """A plain transformers folder, adapter merged."""
        self.refresh_sampler()
        self.sampler.model.save_pretrained(folder)
        self.sampler.tokenizer.inner.save_pretrained(folder)

    def save_for_sampling(self, folder: Path) -> None:
        """What a sampler in another process lacks: the adapter alone if there is one, else all weights."""
        if self._lora:
            self.model.save_pretrained(folder, save_embedding_layers=False)
        else:
            self.model.save_pretrained(folder)

    def _adapted(self) -> Iterator[tuple[str, Any]]:
        if self._lora:
            for name, module in self.model.base_model.model.named_modules():
                if hasattr(module, "get_delta_weight"):
                    yield name, module


def _with_adapter(model: Any, rank: int, alpha: int, seed: int) -> Any:
    import peft

    config = peft.LoraConfig(r=rank, lora_alpha=alpha, lora_dropout=0.0, target_modules="all-linear", bias="none")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return peft.get_peft_model(model, config)
