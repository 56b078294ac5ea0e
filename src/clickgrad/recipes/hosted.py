"""Hosted models as policies: where they are, which key opens them, and what was spent on them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.policy.protocol import Policy
from clickgrad.policy.spending import Metered
from clickgrad.recipes.display import say
from clickgrad.report.metrics import Metrics

if TYPE_CHECKING:  # httpx is loaded only by those who ask an endpoint
    from clickgrad.policy.chat import ChatEngine

OPENAI = "https://api.openai.com/v1"
SPENDING = "spending.jsonl"


def open_chat(config: Config, model: str) -> ChatEngine:
    """`model` is the name the endpoint knows it by."""
    from clickgrad.policy.chat import ChatEngine, Endpoint

    options = config.chat
    url = options.url or os.environ.get("OPENAI_BASE_URL") or OPENAI
    key = os.environ.get("OPENAI_API_KEY", "")
    if not model:
        raise UserError("chat: names no model; write it as chat:<model>, for example chat:gpt-4o")
    if url == OPENAI and not key:
        raise UserError(f"chat:{model} needs a key: set OPENAI_API_KEY, or chat.url to an endpoint of your own")
    return ChatEngine(
        Endpoint(
            url,
            model,
            key,
            options.reasoning,
            options.concurrency,
            options.requests_per_minute,
            options.timeout_s,
            options.tries,
            give_up_s=config.rollout.reply_s,
        )
    )


@contextmanager
def metered(config: Config, policy: Policy, folder: Path, quiet: bool = False) -> Iterator[None]:
    """What the block cost, if the policy costs anything: a row in the folder and a line to read, also if it fails."""
    try:
        yield
    finally:
        if isinstance(policy, Metered):
            prices = config.chat.input_price, config.chat.output_price
            Metrics(folder / SPENDING).append(asdict(policy.spent) | {"cost": policy.spent.cost(*prices)})
            if not quiet:
                say(f"{policy.name}: {policy.spent.text(*prices)}")
