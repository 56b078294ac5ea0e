"""The shop's tasks: six templates, and the dealing of products among them so that no split can leak into another."""

from __future__ import annotations

import random

from clickgrad.tasks.drafts import DRAFTS, deal
from clickgrad.tasks.shop.changing import add_to_cart, checkout, write_review
from clickgrad.tasks.shop.finding import find_fact, order_history, sort_and_filter
from clickgrad.types import Task
from clickgrad.worlds.shop.data import shop_data

__all__ = ["shop_tasks"]


def shop_tasks(seed: int) -> tuple[Task, ...]:
    data = shop_data(seed)
    rng = random.Random(f"shop tasks {seed}")
    # A product serves one task of one template only: what the test asks about was never seen in training.
    # Featured ones are a click from home, which would make some tasks shorter than the rest of their rung.
    products = rng.sample([item for item in data.products if item.stock and not item.featured], k=3 * DRAFTS)
    templates = {
        "find_fact": find_fact(data, products[:DRAFTS]),
        "sort_and_filter": sort_and_filter(data, rng),
        "add_to_cart": add_to_cart(data, products[DRAFTS : 2 * DRAFTS], rng),
        "checkout": checkout(data, rng),
        "write_review": write_review(products[2 * DRAFTS :], rng),
        "order_history": order_history(data, rng),
    }
    return tuple(task for name, drafts in templates.items() for task in deal("shop", name, drafts))
