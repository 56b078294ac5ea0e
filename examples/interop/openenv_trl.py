"""Train with TRL's GRPOTrainer on Pocket Arena, through OpenEnv.

pip install 'clickgrad[openenv]' trl
python -m clickgrad.interop.openenv_server --suite pocket --split train --port 8000 &
python examples/interop/openenv_trl.py Qwen/Qwen3-0.6B http://127.0.0.1:8000
"""

from __future__ import annotations

import sys
from typing import Any

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from clickgrad.interop.trl_tools import web_tools
from clickgrad.tasks.suites import load_tasks

PROMPT = "Do the task on this web site with your tools; call `finish` when it is done.\n\n"


def trainer(model: Any, url: str, tokenizer: Any = None, **options: Any) -> GRPOTrainer:
    """The environment brings the reward: 1 or 0 by the task's checks, None when its session crashed."""
    tasks = [task for task in load_tasks("pocket", "train") if (task.expert_turns or 9) <= 3]
    rows = {"prompt": [[{"role": "user", "content": PROMPT}]] * len(tasks), "task": [task.id for task in tasks]}
    return GRPOTrainer(
        model=model,
        args=GRPOConfig(**{"max_completion_length": 4096, "num_generations": 8, "output_dir": "runs/trl"} | options),
        train_dataset=Dataset.from_dict(rows),
        processing_class=tokenizer,
        environment_factory=web_tools(url),
    )


if __name__ == "__main__":
    trainer(sys.argv[1], sys.argv[2]).train()
