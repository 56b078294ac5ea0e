"""The episodes of ours.py through Inspect, as its own `eval` runs them; a mock model says what was said."""

from __future__ import annotations

from typing import Any

import inspect_ai
from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage, get_model
from playing import main

from clickgrad.interop.inspect_task import web_tasks

GIVE_UP = 'exit(message="")'


def output(text: str) -> ModelOutput:
    """Without usage the mock model would count tokens, with a tokenizer that it fetches from elsewhere."""
    made = ModelOutput.from_content("mockllm/model", text)
    made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return made


def play(episodes: list[dict[str, Any]]) -> list[float | None]:
    """All of a suite and policy at once: samples run side by side."""
    said = {episode["intent"]: [turn["reply"] for turn in episode["turns"]] for episode in episodes}

    def answer(messages: list[Any], tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        asked = next(message.text for message in messages if message.role == "user")
        turn = sum(message.role == "assistant" for message in messages)
        intent = asked.partition("\n")[0].removeprefix("Task: ")
        return output(said[intent][turn])

    wanted = {episode["task"] for episode in episodes}
    task = web_tasks(suite=episodes[0]["suite"])
    task.dataset = task.dataset.filter(lambda sample: sample.id in wanted)
    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = inspect_ai.eval(task, model=model, display="none", log_dir="logs", max_samples=4)
    assert log.status == "success", log.error
    found = {sample.id: sample.scores["checks"].value for sample in log.samples}
    return [{"C": 1.0, "I": 0.0}[found[episode["task"]]] for episode in episodes]


def two_at_once(episode: dict[str, Any]) -> list[float | None]:
    """The same task twice, as epochs; whoever begins second gives up at once."""
    replies, begun = [turn["reply"] for turn in episode["turns"]], []

    def answer(messages: list[Any], tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        turn = sum(message.role == "assistant" for message in messages)
        if turn == 0:
            begun.append(None)
        return output(GIVE_UP if turn == 0 and len(begun) == 2 else replies[turn])

    task = web_tasks(suite=episode["suite"])
    task.dataset = task.dataset.filter(lambda sample: sample.id == episode["task"])
    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = inspect_ai.eval(task, model=model, display="none", log_dir="logs", max_samples=2, epochs=2)
    return sorted(({"C": 1.0, "I": 0.0}[sample.scores["checks"].value] for sample in log.samples), reverse=True)


if __name__ == "__main__":
    main(play, two_at_once)
