"""Our GRPO loss against TRL's, on single-turn data and with matching settings: equal loss, equal gradients.

TRL lives in an environment of its own and is used for nothing else:

    python -m venv /tmp/trl && /tmp/trl/bin/pip install torch==2.13.0 trl "transformers>=5.16.1,<5.20"
    PYTHONPATH=src /tmp/trl/bin/python tests/compare/trl_grpo.py

Differences that remain, and why:
1. TRL divides advantages by the sample's standard deviation (n - 1) plus 1e-4, we by the group's own (n). Both losses
   get the same advantages here.
2. TRL's `grpo` averages over completions; ours, on trajectories of one turn, is the same with `paper`. TRL's `bnpo` is
   our `token`. Our `constant` divides by a number of turns, TRL's `dr_grpo` by a number of tokens: no counterpart.
3. TRL by default multiplies the KL term by the importance ratio (`use_bias_correction_kl`); the paper does not, so it
   is off here.
"""

from __future__ import annotations

import copy
import json
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import datasets
import tokenizers
import torch
import transformers
from trl import GRPOConfig, GRPOTrainer

from clickgrad.learn.logprobs import collate, reply_logprobs
from clickgrad.learn.losses import grpo_loss
from clickgrad.learn.spec import UpdateOptions
from clickgrad.policy.attention import use_our_attention
from clickgrad.types import Sample

VOCABULARY, PROMPT, GROUP = 97, 6, 8
LENGTHS = (5, 9, 3, 7, 9, 2, 6, 4)
BOUND = 1e-5


def tiny_llama() -> Any:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config).eval()


def make_samples(model: Any, normalizer: str) -> list[Sample]:
    """Two tasks, four completions each, with a sampler a little off the policy so that the clip acts."""
    draw = torch.Generator().manual_seed(1)
    tokens = sum(LENGTHS)
    samples = []
    for index, length in enumerate(LENGTHS):
        prompt = tuple(3 + (7 * place + index // 4) % 90 for place in range(PROMPT))
        reply = tuple(torch.randint(3, VOCABULARY, (length,), generator=draw).tolist())
        with torch.no_grad():
            logits = model(torch.tensor([prompt + reply])).logits[0]
        logprobs = torch.log_softmax(logits, -1)[PROMPT - 1 : -1].gather(1, torch.tensor(reply)[:, None])[:, 0]
        off = logprobs + 0.4 * torch.randn(length, generator=draw)
        advantage = float(torch.randn(1, generator=draw))
        weight = length / tokens if normalizer == "token" else 1 / len(LENGTHS)
        samples.append(Sample(prompt + reply, length, tuple(off.tolist()), advantage, weight))
    return samples


def ours(model: Any, reference: Any, samples: Sequence[Sample], beta: float) -> tuple[float, torch.Tensor]:
    model, reference = copy.deepcopy(model), copy.deepcopy(reference)
    use_our_attention(model)
    use_our_attention(reference)
    batch = collate(samples, "comb")
    with torch.no_grad():
        scored = reply_logprobs(reference, batch)[0]
    terms = grpo_loss(
        reply_logprobs(model, batch)[0], batch, UpdateOptions(0.0, clip=0.2, kl_beta=beta), scored if beta else None
    )
    terms.loss.backward()
    return float(terms.loss), torch.cat([one.grad.flatten() for one in model.parameters()])


def theirs(
    model: Any, reference: Any, samples: Sequence[Sample], beta: float, loss_type: str
) -> tuple[float, torch.Tensor]:
    model = copy.deepcopy(model)
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"w{index}": index for index in range(VOCABULARY)}, "w0"))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="w0", eos_token="w2")
    with tempfile.TemporaryDirectory() as folder:
        reference.save_pretrained(folder)
        model.config._name_or_path = folder  # where the trainer looks for its reference
        options = GRPOConfig(
            output_dir=folder, per_device_train_batch_size=GROUP, num_generations=4, max_completion_length=max(LENGTHS),
            beta=beta, epsilon=0.2, loss_type=loss_type, use_cpu=True, bf16=False, report_to=[], temperature=1.0,
            use_bias_correction_kl=False,
        )  # fmt: skip
        trainer = GRPOTrainer(
            model,
            reward_funcs=lambda completions, **_: [0.0] * len(completions),
            args=options,
            train_dataset=datasets.Dataset.from_list([{"prompt": "w3 w4"}] * 8),
            processing_class=tokenizer,
        )
    model.eval()
    trainer.current_gradient_accumulation_steps = 1
    width = max(LENGTHS)

    def table(rows: list[list[float]], kind: torch.dtype) -> torch.Tensor:
        return torch.tensor([row + [0] * (width - len(row)) for row in rows], dtype=kind)

    replies = [list(sample.ids[PROMPT:]) for sample in samples]
    inputs = {
        "prompt_ids": torch.tensor([sample.ids[:PROMPT] for sample in samples]),
        "prompt_mask": torch.ones(len(samples), PROMPT, dtype=torch.long),
        "completion_ids": table(replies, torch.long),
        "completion_mask": table([[1] * len(reply) for reply in replies], torch.long),
        "advantages": torch.tensor([sample.advantage for sample in samples]),
        "old_per_token_logps": table([list(sample.logprobs) for sample in samples], torch.float32),
        "num_items_in_batch": torch.tensor(sum(LENGTHS)),
    }
    ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
    with torch.no_grad():
        scored = torch.log_softmax(reference(ids).logits, -1)[:, PROMPT - 1 : -1]
    inputs["ref_per_token_logps"] = scored.gather(2, inputs["completion_ids"][:, :, None])[:, :, 0]
    loss = trainer._compute_loss(model, inputs)
    loss.backward()
    return float(loss), torch.cat([one.grad.flatten() for one in model.parameters()])


def main() -> int:
    model, reference = tiny_llama(), tiny_llama()
    with torch.no_grad():
        for one in reference.parameters():
            one.add_(0.02 * torch.randn(one.shape, generator=torch.Generator().manual_seed(5)))
    worst = 0.0
    for loss_type, normalizer in (("grpo", "paper"), ("bnpo", "token")):
        for beta in (0.0, 0.1):
            samples = make_samples(model, normalizer)
            my_loss, my_gradient = ours(model, reference, samples, beta)
            their_loss, their_gradient = theirs(model, reference, samples, beta, loss_type)
            row = {
                "trl": loss_type, "normalizer": normalizer, "beta": beta, "loss": my_loss, "trl_loss": their_loss,
                "loss_difference": abs(my_loss - their_loss),
                "gradient_difference": float((my_gradient - their_gradient).abs().max()),
                "gradient_norm": float(my_gradient.norm()),
            }  # fmt: skip
            worst = max(worst, row["loss_difference"], row["gradient_difference"])
            print(json.dumps(row))
    print(f"largest difference {worst:.2e}, bound {BOUND:.0e}")
    return int(worst > BOUND)


if __name__ == "__main__":
    sys.exit(main())
