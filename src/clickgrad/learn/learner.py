"""A policy in training with its optimizer: all that a recipe asks of it, whoever computes.

The sampler shares the trained weights, and with LoRA on the CPU the frozen ones, too. It has weights of its own where
sampling goes on during an update, where LoRA runs elsewhere or is sampled in int8 (base plus adapter, added up anew
after every step), and with several ranks: each of those holds a shard of what is trained, and the first one the
sampler; every rank has to make every call, so the first one broadcasts each before it begins, and the others `follow`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import torch

from clickgrad.learn import checkpoint, sharded
from clickgrad.learn.adapters import merged_weights, with_adapter
from clickgrad.learn.background import Background, on_host
from clickgrad.learn.frozen import FrozenLinears, can_freeze
from clickgrad.learn.logprobs import Batch, reply_logprobs
from clickgrad.learn.progress import Answers, Lot, Progress, Question
from clickgrad.learn.ranks import ALONE, Ranks, full_tensor, reshard, shard, shard_like
from clickgrad.learn.spec import Layout, LearnerSpec, UpdateOptions
from clickgrad.learn.step import (
    OnProgress,
    StepFigures,
    clone_step,
    grpo_step,
    make_optimizer,
    mean_loss,
    rescored,
    silent,
    trainable,
    weighted_step,
)
from clickgrad.learn.values import ValueHead, prompt_states
from clickgrad.policy.device import choose_device, device_of, give_back_memory, give_back_threads
from clickgrad.policy.models import ChatTokenizer, LoadedModel
from clickgrad.policy.vllm_channel import Weight
from clickgrad.types import Sample

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Learner(Protocol):
    on_progress: OnProgress  # of an update, in turns

    @property
    def tokenizer(self) -> ChatTokenizer: ...

    def clone(self, samples: Sequence[Sample], lr: float, micro_tokens: int, layout: Layout) -> StepFigures:
        """One step of behaviour cloning."""

    def mean_loss(self, samples: Sequence[Sample], micro_tokens: int) -> float | None:
        """What cloning would call the loss of these samples; None when there are none."""

    def update(self, samples: Sequence[Sample], options: UpdateOptions) -> tuple[StepFigures, ...]:
        """One step of reinforcement. Empty when there are no samples: then there is nothing to learn from."""

    def assess(self, question: Question) -> Answers:
        """Fit the value head to what is known, and say what it expects; say how likely replies are by now."""

    def refresh_sampler(self) -> None:
        """Whoever samples from the learner's own weights gets those of now."""

    def save(self, checkpoints: Path, progress: Progress, keep: int, score: float | None) -> None:
        """The last `keep` checkpoints stay, and the one with the best score so far.

        It may still be on its way to the disk afterwards, until `finish_saving` or the next call that has to do with
        files; what goes wrong on the way is raised there.
        """

    def finish_saving(self) -> None:
        """What was saved is on the disk."""

    def load(self, folder: Path) -> Progress:
        """Go on from a checkpoint."""

    def export(self, folder: Path) -> None:
        """A plain transformers folder, adapter merged."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a learner that can be sent to another process and made there."""

    method: Callable[..., Any]
    arguments: tuple[Any, ...]

    def make(self, learner: LocalLearner) -> Any:
        return self.method(learner, *self.arguments)


def _on_all_ranks(
    method: Callable[Concatenate[LocalLearner, Arguments], Result],
) -> Callable[Concatenate[LocalLearner, Arguments], Result]:
    @wraps(method)
    def call(learner: LocalLearner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        assert not kwargs, "a call that is sent has its arguments by position"
        learner.ranks.broadcast(Call(call, args))
        try:
            return method(learner, *args, **kwargs)
        finally:
            give_back_threads()

    return call


class LocalLearner:
    """The weights are in this process, or sharded among its ranks."""

    def __init__(self, loaded: LoadedModel, spec: LearnerSpec, ranks: Ranks = ALONE) -> None:
        self.ranks = ranks
        self.on_progress: OnProgress = silent
        self._outlet: Callable[[torch.Tensor], None] = lambda whole: None  # of the first rank
        self._spec = spec
        self._lora = spec.lora.rank > 0
        self._start: Any = None
        self._head: ValueHead | None = None  # made when it is first asked
        self._states: dict[int, tuple[Lot, torch.Tensor]] = {}  # of steps asked for last time
        frozen = self._lora and ranks.size == 1 and can_freeze(loaded.model)
        rounded_more = loaded.compute == "int8"  # than the learner can be
        self._apart = spec.separate_sampler or ranks.size > 1 or (self._lora and not frozen) or rounded_more
        self._in_parts = bool(loaded.files)  # a skeleton, of which every rank reads its own part
        self._dtype = torch.bfloat16 if loaded.compute == "bfloat16" else None  # of what servers are given
        copied = self._apart and ranks.is_first and not self._in_parts
        self.sampler = replace(loaded, model=copy.deepcopy(loaded.model)) if copied else loaded
        if copied and not spec.samples_here:
            self.sampler.model.to("cpu")
        self._autocast = loaded.compute == "bfloat16" and not frozen and ranks.size == 1
        if self._lora:
            self.model = with_adapter(loaded.model, spec.lora, spec.seed)
            if frozen:
                packing = FrozenLinears(self.model, "float32" if rounded_more else loaded.compute)
                self.sampler = self.sampler if self._apart else replace(loaded, packing=packing)
        else:
            self.model = loaded.model
            self._start = copy.deepcopy(loaded.model) if spec.with_reference else None
        if ranks.size > 1:
            self._shard(choose_device(spec.model.device), loaded.files, rounded=loaded.compute == "bfloat16")
        # Dropout would make the policy that is trained another one than the policy that sampled.
        self.model.eval()
        if spec.recompute:
            self.model.gradient_checkpointing_enable({"use_reentrant": False})
        self.optimizer = make_optimizer(self.model, lr=0.0)  # every step sets its own rate
        self._saving = Background() if spec.save_async else None
        # A thread that saves speaks to those of the other ranks beside the training.
        self._saving_group = torch.distributed.new_group(backend="gloo") if self._saving and ranks.size > 1 else None
        give_back_threads()

    def _shard(self, device: torch.device, files: Mapping[str, Path], rounded: bool) -> None:
        if rounded and self._start is not None:
            for weight in self._start.parameters():  # it is never updated: kept as layers round it
                weight.data = weight.data.to(torch.bfloat16)
        for model in filter(None, (self.model, self._start)):
            shard(model, self.ranks, device, rounded)
            if self._in_parts:
                sharded.fill(model, files, device)

    @property
    def tokenizer(self) -> ChatTokenizer:
        return self.sampler.tokenizer

    # --- updates ---

    @_on_all_ranks
    def clone(self, samples: Sequence[Sample], lr: float, micro_tokens: int, layout: Layout) -> StepFigures:
        with self._computing():
            return clone_step(self.model, self.optimizer, samples, lr, micro_tokens, layout, self.ranks)

    @_on_all_ranks
    def mean_loss(self, samples: Sequence[Sample], micro_tokens: int) -> float | None:
        with self._computing():
            return mean_loss(self.model, samples, micro_tokens)

    @_on_all_ranks
    def update(self, samples: Sequence[Sample], options: UpdateOptions) -> tuple[StepFigures, ...]:
        if not samples:
            return ()
        if options.form != "clip":
            with self._computing():
                return weighted_step(self.model, self.optimizer, samples, options, self.ranks, self.on_progress)
        reference = self.reference if options.kl_beta else None
        with self._computing():
            return grpo_step(self.model, self.optimizer, samples, options, reference, self.ranks, self.on_progress)

    @_on_all_ranks
    def assess(self, question: Question) -> Answers:
        with self._computing():
            scored = rescored(self.model, question.scored, question.temperature, question.micro_tokens)
            states = self._states_of(question)
        if not question.lots:
            return Answers(scored=scored)
        last, self._head = question.lots[-1], self._head or ValueHead(states[0].shape[1], self._spec.seed)
        foreseen = self._head.values(states[-1])
        outcomes = torch.tensor([outcome for lot in question.lots for outcome in lot.outcomes])
        self._head.fit(torch.cat(states), outcomes, question.fit, seed=last.step)
        values = tuple(tuple(self._head.values(some).tolist()) for some in states)
        return Answers(tuple(foreseen.tolist()), values, scored)

    def _states_of(self, question: Question) -> list[torch.Tensor]:
        """Of each lot, under the policy as it was at the start."""
        known, self._states = self._states, {}
        for lot in question.lots:
            if known.get(lot.step, (None,))[0] == lot:
                self._states[lot.step] = known[lot.step]
                continue
            with self.model.disable_adapter() if self._lora else nullcontext():
                model = self.model if self._lora or self._start is None else self._start
                self._states[lot.step] = lot, prompt_states(model, lot.prompts, question.micro_tokens)
        return [self._states[lot.step][1] for lot in question.lots]

    @contextmanager
    def _computing(self) -> Iterator[None]:
        # The library recomputes in training mode only: that of the layer itself, while all in it stays without dropout.
        layers = self.model.get_decoder().layers
        for layer in layers:
            layer.training = self._spec.recompute
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

    # --- weights for samplers ---

    @_on_all_ranks
    def refresh_sampler(self) -> None:
        self._refresh_sampler()
        give_back_memory()  # of the update: whoever samples on the same device, and the browsers, need it

    @torch.no_grad()
    def _refresh_sampler(self) -> None:
        reshard(self.model)
        for name, weight in self._moved() if self._apart and not self._in_parts else ():
            if self.ranks.is_first:
                self.sampler.model.get_parameter(name).copy_(weight)

    def _moved(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Every weight of the sampler's that training changes, whole."""
        if self._lora:
            return merged_weights(self.model)
        return ((name, full_tensor(value)) for name, value in self.model.named_parameters())

    @torch.no_grad()
    def merged(self) -> dict[str, torch.Tensor]:
        """All weights of the plain model, adapters added. The sampler is to be refreshed first."""
        weights: dict[str, torch.Tensor] = self.sampler.model.state_dict()
        if self._lora and not self._apart:
            weights = {name.replace(".base_layer", ""): one for name, one in weights.items() if ".lora_" not in name}
            weights |= dict(merged_weights(self.model))
        return weights

    def outline(self) -> list[Weight]:
        """What `send_weights` will send, in order."""
        return [
            Weight(name, str(self._dtype or value.dtype).removeprefix("torch."), tuple(value.shape))
            for name, value in self._trained()
        ]

    def send_weights(self, outlet: Callable[[torch.Tensor], None]) -> None:
        """Every trained weight, whole, as servers are given it; one at a time. The outlet must not raise."""
        self._outlet = outlet
        self._send_weights()

    @_on_all_ranks
    @torch.no_grad()
    def _send_weights(self) -> None:
        reshard(self.model)
        for _, value in self._trained():
            whole = full_tensor(value.detach())
            if self.ranks.is_first:
                self._outlet(whole.to(self._dtype or whole.dtype))
            del whole

    @_on_all_ranks
    def save_for_sampling(self, folder: Path) -> None:
        """What a sampler that reads files lacks: the adapter if there is one, else all weights.

        The sampler here is to be refreshed first.
        """
        self._save_for_sampling(folder)

    def _save_for_sampling(self, folder: Path) -> None:
        if not self._lora:
            if self._in_parts:
                sharded.write_model(folder, self.model, self.ranks, self._dtype)
            elif self.ranks.is_first:
                sharded.write_model(folder, self.sampler.model, ALONE, self._dtype)
            return
        weights = self._weights()
        if self.ranks.is_first:
            self.model.save_pretrained(folder, save_embedding_layers=False, state_dict=weights)

    @_on_all_ranks
    def files(self) -> dict[str, bytes]:
        """The same by their names, for a sampler on another machine."""
        self._refresh_sampler()
        with TemporaryDirectory(prefix="clickgrad-push-") as folder:
            self._save_for_sampling(Path(folder))
            return {file.name: file.read_bytes() for file in Path(folder).iterdir()}

    @_on_all_ranks
    def weights(self) -> dict[str, torch.Tensor]:
        """The trained parameters, whole, for a sampler in another process."""
        return {name: value.cpu() for name, value in self._weights().items()}

    @torch.no_grad()
    def _weights(self) -> dict[str, torch.Tensor]:
        reshard(self.model)
        return {name: full_tensor(value.detach()) for name, value in self._trained()}

    @torch.no_grad()
    def load_weights(self, weights: dict[str, torch.Tensor]) -> None:
        reshard(self.model)
        for name, value in self._trained():
            value.copy_(shard_like(value, weights[name]))
        self._refresh_sampler()

    def _trained(self) -> Iterator[tuple[str, torch.nn.Parameter]]:
        return ((name, value) for name, value in self.model.named_parameters() if value.requires_grad)

    # --- files ---

    @_on_all_ranks
    def save(self, checkpoints: Path, progress: Progress, keep: int, score: float | None) -> None:
        reshard(self.model)
        self._finish_saving()  # before the copies are made: there is never more than one set of them
        values = self._head.tensors() if self._head else {}
        parts = (self._held(), checkpoint.moments(self.optimizer), values)
        weights, moments, values = (on_host(some) for some in parts) if self._saving else parts
        state = checkpoint.State(progress, weights, moments, score, values)
        if self._saving:
            self._saving.begin(lambda: self._write(checkpoints, state, keep))
        else:
            self._write(checkpoints, state, keep)

    def _write(self, checkpoints: Path, state: checkpoint.State, keep: int) -> None:
        if self.ranks.size == 1:
            checkpoint.save(checkpoints, state, keep)
        else:
            sharded.save(checkpoints, state, keep, self.ranks, self._saving_group)

    @_on_all_ranks
    def finish_saving(self) -> None:
        self._finish_saving()

    def _finish_saving(self) -> None:
        if self._saving:
            self._saving.finish()

    @_on_all_ranks
    def load(self, folder: Path) -> Progress:
        """A checkpoint of one process or of several, whatever this one is among."""
        self._finish_saving()
        with checkpoint.reading(folder):
            progress = checkpoint.read_progress(folder)
            if self.ranks.is_first:
                checkpoint.refuse_damaged(folder)
            reshard(self.model)
            moments = sharded.load(folder, self._held(), trainable(self.model), self.ranks)
            checkpoint.load_moments(self.optimizer, moments)
            values = checkpoint.load_values(folder)
            self._head = ValueHead.of(values) if values else None
            self._refresh_sampler()
        return progress

    def _held(self) -> dict[str, torch.Tensor]:
        """The trained parameters as this rank holds them."""
        return {name: value.detach() for name, value in self._trained()}

    @_on_all_ranks
    def export(self, folder: Path) -> None:
        give_back_memory()
        self._finish_saving()
        with checkpoint.saving(folder):
            self._refresh_sampler()
            if self._in_parts:
                sharded.write_model(folder, self.model, self.ranks)
            elif self.ranks.is_first:
                self.sampler.model.save_pretrained(folder, state_dict=self.merged())
            if self.ranks.is_first:
                self.tokenizer.inner.save_pretrained(folder)


def follow(learner: LocalLearner) -> None:
    """All ranks but the first: make the calls that the first one makes, until it is done with the learner."""
    while (call := learner.ranks.receive()) is not None:
        call.make(learner)
