"""Reasons for what an expert does, asked of a hosted model: long first-person thinking before an action that is known.

The action stays the expert's. What the model writes is only the remark before it: tags and actions in it are taken
out, and a remark with which the reply would mean anything else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from clickgrad.agent.grammar import ReplyFormat, find_call, parse, render
from clickgrad.agent.prompt import page_lines
from clickgrad.errors import PolicyError
from clickgrad.policy.protocol import Policy
from clickgrad.tasks.moves import Move
from clickgrad.types import Action, Message, Prompt, Sampling

TRIES = 3
MAX_NEW_TOKENS = 1024
ANSWER = re.compile(r"<answer>.*?(?:</answer>|$)", re.IGNORECASE | re.DOTALL)
TAG = re.compile(r"</?(?:think|answer)>", re.IGNORECASE)
SYSTEM = """You write down what an agent on a web site thinks before it acts. Write in the first person and in the \
present tense, as someone who does not know yet what comes next: what the task wants, what this page shows of it, what \
the choices are, and why one of them is right. A few sentences of plain text. Do not write the action itself, no code, \
no tags, and do not mention that the action was given to you."""


class ChatExplainer:
    """`policy` reads text. Asks again, a bounded number of times, when nothing of an answer can be used."""

    def __init__(self, policy: Policy, temperature: float = 0.7) -> None:
        self._policy = policy
        self._temperature = temperature

    async def explain(self, prompt: Prompt, move: Move, notes: Sequence[str], reply_format: ReplyFormat) -> str:
        question = Prompt(prompt.episode, prompt.task, prompt.observation, _messages(prompt, move, notes))
        for seed in range(TRIES):
            said = await self._policy.complete(question, Sampling(MAX_NEW_TOKENS, self._temperature, seed=seed))
            remark = cleaned(said.text, move.action, reply_format)
            if remark:
                return remark
        raise PolicyError(f"{self._policy.name} gave no usable explanation in {TRIES} tries: {said.text[:200]!r}")


def cleaned(text: str, action: Action, reply_format: ReplyFormat) -> str:
    """One paragraph without tags and actions; empty when nothing is left, or nothing that leaves the action alone."""
    lines = TAG.sub("", ANSWER.sub("", text)).splitlines()
    kept = [line.strip("#* \t") for line in lines if find_call(line) is None and not line.lstrip().startswith("```")]
    remark = " ".join(" ".join(kept).split())
    return remark if parse(render(action, remark, reply_format), reply_format) == action else ""


def _messages(prompt: Prompt, move: Move, notes: Sequence[str]) -> tuple[Message, ...]:
    parts = [
        f"Task: {prompt.task.intent}",
        f"Noted on earlier pages: {'; '.join(notes) or 'nothing'}",
        *page_lines(prompt.observation),
        "",
        f"The action that follows: {render(move.action, '', 'plain')}",
        f"It is right because {move.why}. {move.remark}",
    ]
    return Message("system", SYSTEM), Message("user", "\n".join(parts))
