"""Score any model that Inspect knows on Pocket Arena.

    pip install 'clickgrad[inspect]'
    python examples/interop/inspect_pocket.py openai/gpt-4o 20

`inspect eval examples/interop/inspect_pocket.py --model openai/gpt-4o --limit 20 -T split=test` does the same.
"""

from __future__ import annotations

import sys

import inspect_ai
from inspect_ai.model import Model

from clickgrad.interop.inspect_task import web_tasks


def score(model: str | Model, limit: int) -> list[float]:
    """What each sample earned; samples with an error of ours are tried twice more, and then have no score."""
    task = web_tasks(suite="pocket", split="test", max_turns=8)
    (log,) = inspect_ai.eval(task, model=model, limit=limit, retry_on_error=2, fail_on_error=False, display="none")
    for sample in log.samples or []:
        for name, found in (sample.scores or {}).items():
            print(sample.id, name, found.value, found.explanation)
    scored = [sample for sample in log.samples or [] if sample.scores]
    return [float(sample.scores["checks"].value == "C") for sample in scored]


if __name__ == "__main__":
    earned = score(sys.argv[1], int(sys.argv[2]))
    print(f"{sum(earned):.0f} of {len(earned)} passed")
