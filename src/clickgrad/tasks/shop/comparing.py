"""Several products against each other, and lists narrowed by more than one filter."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import cycle
from operator import attrgetter

from clickgrad.tasks.shop.finding import UNTOUCHED, list_url
from clickgrad.tasks.shop.records import Records, in_turn, listed, records
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, Check
from clickgrad.worlds.pages import money
from clickgrad.worlds.shop.data import Category, Product
from clickgrad.worlds.shop.listing import PAGE_SIZE, SORTS

# question -> (its beginning, what is compared, whether more is better, turns for each product)
_QUESTIONS: dict[str, tuple[str, Callable[[Product], int], bool, int]] = {
    "cheapest": ("Which is the cheapest", attrgetter("price_cents"), False, 1),
    "dearest": ("Which is the most expensive", attrgetter("price_cents"), True, 1),
    "most": ("Which has the most in stock", attrgetter("stock"), True, 2),
    "fewest": ("Which has the fewest in stock", attrgetter("stock"), False, 2),
}


def compare_products(seed: int) -> Iterator[Draft]:
    """The prices are in the list a search gives; the stock is on the product's page."""
    shop, rng = records(seed), random.Random(f"shop.compare_products {seed}")
    items = iter(shop.ladder_products(rng))
    ladder = (("cheapest", 2), ("most", 5), ("dearest", 3), ("sum", 5), ("fewest", 6), ("most", 3), ("sum", 2))
    for kind, many in cycle(ladder):
        chosen = [item for item, _ in zip(items, range(many), strict=False)]
        if len(chosen) < many:
            return
        draft = _comparison(kind, chosen)
        if draft:
            yield draft


def _comparison(kind: str, chosen: list[Product]) -> Draft | None:
    names = [item.name for item in chosen]
    params = (("kind", kind), *((f"product{number}", name) for number, name in enumerate(names)))
    if kind == "sum":
        total = money(sum(item.price_cents for item in chosen))
        intent = f"What is the sum of the prices of {listed(names)}?"
        return Draft(intent, "/", (AnswerCheck((total,)), UNTOUCHED), len(chosen) + 1, params)
    question, value, most, each = _QUESTIONS[kind]
    first, second = sorted(chosen, key=value, reverse=most)[:2]
    if value(first) == value(second):
        return None
    intent = f"{question}: {', '.join(names[:-1])} or {names[-1]}?"
    return Draft(intent, "/", (AnswerCheck((first.name,)), UNTOUCHED), each * len(chosen) + 1, params)


def more_filters(seed: int) -> Iterator[Draft]:
    shop, rng = records(seed), random.Random(f"shop.more_filters {seed}")
    return in_turn(
        _lists(shop, rng, ("color",), False),
        _lists(shop, rng, ("sort", "brand", "max", "color", "min", "stock"), True),
        _counts(shop, rng, ("color", "max"), True),
        _lists(shop, rng, ("sort", "stock"), False),
        _lists(shop, rng, ("brand", "max", "color", "min"), True),
        _counts(shop, rng, ("max", "min", "stock"), True),
        _lists(shop, rng, ("max", "min"), True),
        _lists(shop, rng, ("sort", "max", "color", "stock"), True),
    )


def _pick(shop: Records, rng: random.Random, names: tuple[str, ...]) -> tuple[Category, dict[str, str]]:
    """Settings that fit at least one product, so that the list is not empty."""
    category = rng.choice(shop.data.categories)
    model = rng.choice([item for item in shop.on_sale(category) if item.stock])
    dollars = model.price_cents // 100
    values = {
        "sort": rng.choice([sort for sort in SORTS if sort != "name"]),
        "brand": model.brand,
        "color": model.color,
        "max": str((dollars // 10 + rng.randint(1, 3)) * 10),
        "min": str(max(dollars // 10 - rng.randint(0, 2), 0) * 10 or 4),
        "stock": "1",
    }
    return category, {name: values[name] for name in values if name in names}


def _matching(shop: Records, category: Category, settings: dict[str, str]) -> list[Product]:
    return [
        item
        for item in shop.on_sale(category)
        if settings.get("brand") in (None, item.brand)
        and settings.get("color") in (None, item.color)
        and item.price_cents <= int(settings.get("max", "1000")) * 100
        and item.price_cents >= int(settings.get("min", "0")) * 100
        and (item.stock or "stock" not in settings)
    ]


def _describe(category: Category, settings: dict[str, str]) -> str:
    """Kitchen products of the color Red, of the brand Acorn and with a min price of 10"""
    words = {
        "color": "of the color {}", "brand": "of the brand {}", "min": "with a min price of {}",
        "max": "with a max price of {}", "stock": "in stock",
    }  # fmt: skip
    parts = [text.format(settings[name]) for name, text in words.items() if name in settings]
    return f"{category.name} products {listed(parts)}"


def _draft(
    category: Category, settings: dict[str, str], intent: str, check: Check, home: bool, answers: bool, pages: int
) -> Draft:
    folded = any(name in settings for name in ("color", "min", "stock"))
    return Draft(
        intent=intent,
        start_path="/" if home else f"/category/{category.slug}",
        checks=(check, UNTOUCHED),
        expert_turns=home + len(settings) + folded + pages + 2,  # More Filters, Next, Apply, exit
        params=(
            ("category", category.name),
            ("sort", SORTS[settings["sort"]] if "sort" in settings else None),
            ("brand", settings.get("brand")),
            ("max_price", settings.get("max")),
            ("color", settings.get("color")),
            ("min_price", settings.get("min")),
            ("in_stock", "stock" in settings),
            ("answers", answers),
        ),
    )


def _lists(shop: Records, rng: random.Random, names: tuple[str, ...], home: bool) -> Iterator[Draft]:
    for _ in range(20):
        category, settings = _pick(shop, rng, names)
        order = f", sorted by {SORTS[settings['sort']]}" if "sort" in settings else ""
        intent = f"Show only the {_describe(category, settings)}{order}."
        yield _draft(category, settings, intent, list_url(category, **settings), home, False, 0)


def _counts(shop: Records, rng: random.Random, names: tuple[str, ...], home: bool) -> Iterator[Draft]:
    for _ in range(20):
        category, settings = _pick(shop, rng, names)
        many = len(_matching(shop, category, settings))
        intent = f"How many {_describe(category, settings)} are there?"
        yield _draft(category, settings, intent, AnswerCheck((str(many),)), home, True, (many - 1) // PAGE_SIZE)
