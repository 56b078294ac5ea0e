"""Templates that change nothing: a fact about a product, a list put in order, a fact about an order."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, product

from clickgrad.tasks.shop.records import Records, records
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, StateCheck, UrlCheck
from clickgrad.worlds.pages import day, money
from clickgrad.worlds.shop.data import Category, Order, Product
from clickgrad.worlds.shop.listing import SORTS

UNTOUCHED = StateCheck(())

# fact -> (the question, the answer as the page spells it)
_PRODUCT_FACTS: dict[str, tuple[str, Callable[[Product], str]]] = {
    "price": ("What is the price of {}?", lambda item: money(item.price_cents)),
    "brand": ("What is the brand of {}?", lambda item: item.brand),
    "color": ("What is the color of {}?", lambda item: item.color),
    "stock": ("How many of {} are in stock?", lambda item: str(item.stock)),
    "sku": ("What is the SKU of {}?", lambda item: item.sku),
}
# fact -> (the question, the answer, whether the list of orders already shows it)
_ORDER_FACTS: dict[str, tuple[str, Callable[[Order], str], bool]] = {
    "status": ("What is the status of order {}?", lambda order: order.status, True),
    "total": ("What is the total of order {}?", lambda order: money(order.total_cents), True),
    "payment": ("How was order {} paid?", lambda order: order.payment_method, False),
    "date": ("On what date was order {} placed?", lambda order: day(order.created), True),
    "shipping": ("What is the shipping method of order {}?", lambda order: order.shipping_method, False),
}
# superlative -> the sort that puts it first
SUPERLATIVES = {"cheapest": "price_asc", "most expensive": "price_desc", "best rated": "rating"}


def find_fact(seed: int) -> Iterator[Draft]:
    """In turns: search, [open,] answer; or, from the list the product is on, open and answer."""
    shop, rng = records(seed), random.Random(f"shop.find_fact {seed}")
    for index, (item, fact) in enumerate(zip(shop.ladder_products(rng), cycle(_PRODUCT_FACTS), strict=False)):
        question, answer = _PRODUCT_FACTS[fact]
        from_list = index % 2 == 1 and fact != "price"
        yield Draft(
            intent=question.format(item.name),
            start_path=shop.list_path(item) if from_list else "/",
            checks=(AnswerCheck((answer(item),)), UNTOUCHED),
            expert_turns=2 if from_list or fact == "price" else 3,
            params=(("fact", fact), ("product", item.name)),
        )


def order_history(seed: int) -> Iterator[Draft]:
    """Orders on the first two pages of their customer's list."""
    shop, rng = records(seed), random.Random(f"shop.order_history {seed}")
    orders = [order for order in rng.sample(shop.data.orders, k=len(shop.data.orders)) if shop.order_page(order) < 2]
    for index, (order, fact) in enumerate(zip(orders, cycle(_ORDER_FACTS), strict=False)):
        question, answer, on_list = _ORDER_FACTS[fact]
        from_list = not on_list and index % 2 == 0
        yield Draft(
            intent=question.format(order.id),
            start_path="/orders" if from_list else "/",
            checks=(AnswerCheck((answer(order),)), UNTOUCHED),
            user=shop.shopper(order.customer_id),
            expert_turns=1 + (not from_list) + shop.order_page(order) + (not on_list),
            params=(("fact", fact), ("order", order.id)),
        )


def sort_and_filter(seed: int) -> Iterator[Draft]:
    """Five kinds in turn, each dealing its own shuffled combinations; every other instance starts at home."""
    shop, rng = records(seed), random.Random(f"shop.sort_and_filter {seed}")
    brands = sorted({(item.category_id, item.brand) for item in shop.on_sale()})
    rng.shuffle(brands)
    half = len(brands) // 2
    kinds = (
        _sorted_lists(shop.data.categories, rng),
        _brand_lists([(shop.categories[id_], brand) for id_, brand in brands[:half]]),
        _superlatives(shop, rng),
        _superlatives_of_brand(shop, [(shop.categories[id_], brand) for id_, brand in brands[half:]]),
        _price_limits(shop.data.categories, rng),
    )
    for kind in cycle(kinds):
        draft = next(kind, None)
        if draft is None:
            return
        yield draft


def _list_draft(
    intent: str, category: Category, check: AnswerCheck | UrlCheck, at_home: bool, sort: str, brand: str, limit: str
) -> Draft:
    settings = sum(map(bool, (sort, brand, limit)))
    return Draft(
        intent=intent,
        start_path="/" if at_home else f"/category/{category.slug}",
        checks=(check, UNTOUCHED),
        expert_turns=at_home + settings + 2,  # settings, Apply, exit
        params=(
            ("category", category.name),
            ("sort", SORTS[sort] if sort else None),
            ("brand", brand or None),
            ("max_price", limit or None),
            ("answers", isinstance(check, AnswerCheck)),
        ),
    )


def list_url(category: Category, **settings: str) -> UrlCheck:
    """The list with these settings and no others. Without a sort that is asked for, any will do."""
    wanted = {"brand": "", "max": "", "min": "", "color": "", "stock": ""} | settings
    return UrlCheck("shop", f"/category/{category.slug}", tuple(wanted.items()))


def _sorted_lists(categories: Sequence[Category], rng: random.Random) -> Iterator[Draft]:
    pairs = [(category, sort) for category, sort in product(categories, SORTS) if sort != "name"]
    for index, (category, sort) in enumerate(rng.sample(pairs, k=len(pairs))):
        intent = f"Sort the {category.name} products by {SORTS[sort]}."
        yield _list_draft(intent, category, list_url(category, sort=sort), index % 2 == 1, sort, "", "")


def _brand_lists(pairs: Sequence[tuple[Category, str]]) -> Iterator[Draft]:
    for index, (category, brand) in enumerate(pairs):
        intent = f"Show only the {category.name} products of the brand {brand}."
        yield _list_draft(intent, category, list_url(category, brand=brand), index % 2 == 1, "", brand, "")


def _price_limits(categories: Sequence[Category], rng: random.Random) -> Iterator[Draft]:
    pairs = list(product(categories, (15, 20, 30, 40, 50, 60)))
    for category, dollars in rng.sample(pairs, k=len(pairs)):
        intent = f"Show only the {category.name} products with a max price of {dollars}."
        yield _list_draft(intent, category, list_url(category, max=str(dollars)), False, "", "", str(dollars))


def _superlatives(shop: Records, rng: random.Random) -> Iterator[Draft]:
    pairs = list(product(shop.data.categories, SUPERLATIVES))
    for category, which in rng.sample(pairs, k=len(pairs)):
        best = best_of(shop, shop.on_sale(category), which)
        if best:
            intent = f"What is the {which} {category.name} product?"
            yield _list_draft(intent, category, AnswerCheck((best.name,)), False, SUPERLATIVES[which], "", "")


def _superlatives_of_brand(shop: Records, pairs: Sequence[tuple[Category, str]]) -> Iterator[Draft]:
    for index, ((category, brand), which) in enumerate(zip(pairs, cycle(SUPERLATIVES), strict=False)):
        best = best_of(shop, [item for item in shop.on_sale(category) if item.brand == brand], which)
        if best:
            intent = f"What is the {which} {category.name} product of the brand {brand}?"
            sort = SUPERLATIVES[which]
            yield _list_draft(intent, category, AnswerCheck((best.name,)), index % 2 == 1, sort, brand, "")


def best_of(shop: Records, items: Sequence[Product], which: str) -> Product | None:
    """None when two share the first place."""

    def merit(item: Product) -> float:
        if which == "best rated":
            return shop.rating(item) or 0.0
        return item.price_cents if which == "most expensive" else -item.price_cents

    first, second = sorted(items, key=merit, reverse=True)[:2]
    return first if merit(first) > merit(second) else None
