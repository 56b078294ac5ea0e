"""The policy in training: what is trained, what stays frozen, and the weights the sampler uses.

Full-parameter: the sampler shares the trained weights, unless sampling goes on during an update. LoRA: the sampler has
weights of its own, base plus adapter, added up anew after every step, so sampling pays nothing for the adapter and
rounding never accumulates. In a crew everybody holds a shard of what is trained, and the first process the sampler.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from clickgrad.errors import UserError
from clickgrad.learn.crew import ALONE, Crew, fold_up, shard, split_like, whole
from clickgrad.learn.logprobs import Batch, reply_logprobs
from clickgrad.policy.device import device_of
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
        samples_here: bool = True,
        recompute: bool = False,
        autocast: bool = False,
        crew: Crew = ALONE,
        lora_layers: int = 0,
    ) -> None:
        """`lora_layers`: only the last so many have adapters, so gradients need not travel below them; 0 is all.

        `separate_sampler`: the sampler keeps its weights until it is refreshed, whatever happens to the trained.
        `samples_here`: the sampler is sampled from in this process; else a copy lies in main memory, for files alone.
        `recompute`: layers are computed again on the way back instead of kept. `autocast`: products in bfloat16.
        """
        self.crew = crew
        self._lora = lora_rank > 0
        self._start: Any = None
        self._apart = self._lora or separate_sampler or crew.size > 1
        copied = self._apart and crew.leads
        self.sampler = replace(loaded, model=copy.deepcopy(loaded.model)) if copied else loaded
        if copied and not samples_here:
            self.sampler.model.to("cpu")
        if self._lora:
            self.model = _with_adapter(loaded.model, lora_rank, lora_alpha, seed, lora_layers)
        else:
            self.model = loaded.model
            self._start = copy.deepcopy(loaded.model) if with_reference else None
        if crew.size > 1:
            for model in filter(None, (self.model, self._start)):
                shard(model, crew)
        # Dropout would make the policy that is trained another one than the policy that sampled.
        self.model.eval()
        self._recompute, self._autocast = recompute, autocast
        if recompute:
            self.model.gradient_checkpointing_enable({"use_reentrant": False})

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Updates are made inside of this."""
        # The library recomputes in training mode only: that of the layer itself, while all in it stays without dropout.
        layers = self.model.get_decoder().layers
        for layer in layers:
            layer.training = self._recompute
        device = device_of(self.model).type
        try:
            # Without the cache of rounded weights: it lives until the block ends, and would outlive an optimizer step.
            with torch.autocast(device, torch.bfloat16, enabled=self._autocast, cache_enabled=False):
                yield
        finally:
            for layer in layers:
                layer.training = False

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
        fold_up(self.model)
        for name, weight in self._moved() if self._apart else ():
            if self.crew.leads:
                self.sampler.model.get_parameter(name).copy_(weight)

    @torch.no_grad()
    def weights(self) -> dict[str, torch.Tensor]:
        """What a checkpoint must hold: the trained parameters, whole."""
        fold_up(self.model)
        return {name: whole(value.detach()) for name, value in self._trained()}

    @torch.no_grad()
    def load_weights(self, weights: dict[str, torch.Tensor]) -> None:
        fold_up(self.model)
        for name, value in self._trained():
            value.copy_(split_like(value, weights[name]))
        self.refresh_sampler()

    def export(self, folder: Path) -> None:
        """A plain transformers folder, adapter merged."""
        self.refresh_sampler()
        if self.crew.leads:
            self.sampler.model.save_pretrained(folder)
            self.sampler.tokenizer.inner.save_pretrained(folder)

    def save_for_sampling(self, folder: Path) -> None:
        """What a sampler in another process lacks: the adapter alone if there is one, else all weights.

        The sampler here is to be refreshed first.
        """
        if not self._lora:
            if self.crew.leads:
                self.sampler.model.save_pretrained(folder)
            return
        weights = self.weights()
        if self.crew.leads:
            self.model.save_pretrained(folder, save_embedding_layers=False, state_dict=weights)

    def _trained(self) -> Iterator[tuple[str, torch.nn.Parameter]]:
        return ((name, value) for name, value in self.model.named_parameters() if value.requires_grad)

    def _moved(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Every weight of the sampler's that training changes, whole."""
        if not self._lora:
            yield from ((name, whole(value)) for name, value in self.model.named_parameters())
        for name, layer in self._adapted():
            yield f"{name}.weight", whole(layer.base_layer.weight) + _delta(layer)

    def _adapted(self) -> Iterator[tuple[str, Any]]:
        if self._lora:
            for name, module in self.model.base_model.model.named_modules():
                if hasattr(module, "get_delta_weight"):
                    yield name, module


def _delta(layer: Any) -> torch.Tensor:
    """What the adapter adds to a layer's weight."""
    scale: float = layer.scaling["default"]
    product = whole(layer.lora_B["default"].weight) @ whole(layer.lora_A["default"].weight)
    return (product.T if layer.fan_in_fan_out else product) * scale


def _with_adapter(model: Any, rank: int, alpha: int, seed: int, last_layers: int) -> Any:
    import peft

    config = peft.LoraConfig(
        r=rank, lora_alpha=alpha, lora_dropout=0.0, bias="none", **_adapted_modules(model, last_layers)
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return peft.get_peft_model(model, config)


def _adapted_modules(model: Any, last_layers: int) -> dict[str, Any]:
    """As options of peft: linear layers of the whole model, or of its last layers."""
    if not last_layers:
        return {"target_modules": "all-linear"}
    layers = model.get_decoder().layers
    if last_layers > len(layers):
        raise UserError(f"lora.layers={last_layers}: the model has {len(layers)} layers; 0 means all of them")
    linear = {name.rpartition(".")[2] for name, one in layers.named_modules() if isinstance(one, torch.nn.Linear)}
    return {"target_modules": sorted(linear), "layers_to_transform": [*range(len(layers))[-last_layers:]]}
