"""Score an agent of BrowserGym or AgentLab on Pocket Arena.

    pip install browsergym-experiments tqdm && playwright install chromium
    pip install --no-deps clickgrad && pip install jinja2 python-multipart starlette tomli-w uvicorn zstandard
    python examples/interop/browsergym_agent.py

The agent here gives up at once. For AgentLab's, hand the same `EnvArgs` to its `ExpArgs`.
"""

from __future__ import annotations

from pathlib import Path

from browsergym.experiments.agent import Agent
from browsergym.experiments.loop import EnvArgs

from clickgrad.interop.browsergym_tasks import register


class GivesUp(Agent):
    def get_action(self, obs):
        return 'send_msg_to_user("I do not know")', {}


def score(agent: Agent, names: list[str], folder: Path) -> list[float]:
    """What each task earned. A crash of ours raises: it is no reward."""
    rewards = []
    for name in names:
        arguments = EnvArgs(task_name=name.removeprefix("browsergym/"), max_steps=8)
        env = arguments.make_env(action_mapping=agent.action_set.to_python_code, exp_dir=folder)
        seen, _ = env.reset()
        reward, over = 0.0, False
        while not over:
            action, _ = agent.get_action(agent.obs_preprocessor(seen))
            seen, reward, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
        env.close()
        rewards.append(float(reward))
    return rewards


if __name__ == "__main__":
    print(score(GivesUp(), register("pocket", "test")[:2], Path("results")))
