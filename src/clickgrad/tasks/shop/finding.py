"""Templates that change nothing: a fact about a product, a list put in order, a fact about an order."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, product

from clickgrad.tasks.drafts import DRAFTS, Draft
from clickgrad.types import AnswerCheck, UrlCheck
from clickgrad.worlds.shop.data import DEFAULT_USER, Category, Order, Product, ShopData
from clickgrad.worlds.shop.listing import PAGE_SIZE, SORTS
from clickgrad.worlds.shop.visit import day, money

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
_SUPERLATIVES = {"cheapest": "price_asc", "most expensive": "price_desc", "best rated": "rating"}


def list_path(data: ShopData, item: Product) -> str:
    """The page of the category's list on which the product stands."""
    names = sorted(other.name for other in data.products if other.category_id == item.category_id)
    slug = next(category.slug for category in data.categories if category.id == item.category_id)
    return f"/category/{slug}?page={names.index(item.name) // PAGE_SIZE + 1}"


def find_fact(data: ShopData, products: Sequence[Product]) -> Iterator[Draft]:
    """In turns: search, [open,] answer; or, from the list the product is on, open and answer."""
    for index, (item, fact) in enumerate(zip(products, cycle(_PRODUCT_FACTS), strict=False)):
        question, answer = _PRODUCT_FACTS[fact]
        from_list = index % 2 == 1 and fact != "price"
        yield Draft(
            intent=question.format(item.name),
            start_path=list_path(data, item) if from_list else "/",
            checks=(AnswerCheck((answer(item),)),),
            user=DEFAULT_USER,
            expert_turns=2 if from_list or fact == "price" else 3,
            params=(("fact", fact), ("product", item.name)),
        )


def order_history(data: ShopData, rng: random.Random) -> Iterator[Draft]:
    emails = {customer.id: customer.email for customer in data.customers}
    orders = rng.sample(data.orders, k=DRAFTS)
    for index, (order, fact) in enumerate(zip(orders, cycle(_ORDER_FACTS), strict=False)):
        question, answer, on_list = _ORDER_FACTS[fact]
        from_list = not on_list and index % 2 == 0
        own = sorted((other.created, other.id) for other in data.orders if other.customer_id == order.customer_id)
        pages_to_turn = own[::-1].index((order.created, order.id)) // PAGE_SIZE
        yield Draft(
            intent=question.format(order.id),
            start_path="/orders" if from_list else "/",
            checks=(AnswerCheck((answer(order),)),),
            user=emails[order.customer_id],
            expert_turns=1 + (not from_list) + pages_to_turn + (not on_list),
            params=(("fact", fact), ("order", order.id)),
        )


def sort_and_filter(data: ShopData, rng: random.Random) -> Iterator[Draft]:
    """Five kinds in turn, each dealing its own shuffled combinations; every other instance starts at home."""
    brands = sorted({(item.category_id, item.brand) for item in data.products})
    rng.shuffle(brands)
    by_id = {category.id: category for category in data.categories}
    half = len(brands) // 2
    kinds = (
        _sorted_lists(data.categories, rng),
        _brand_lists([(by_id[id_], brand) for id_, brand in brands[:half]]),
        _superlatives(data, rng),
        _superlatives_of_brand(data, [(by_id[id_], brand) for id_, brand in brands[half:]]),
        _price_limits(data.categories, rng),
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
        checks=(check,),
        user=DEFAULT_USER,
        expert_turns=at_home + settings + 2,  # settings, Apply, exit
        params=(
            ("category", category.name),
            ("sort", SORTS[sort] if sort else None),
            ("brand", brand or None),
            ("max_price", limit or None),
            ("answers", isinstance(check, AnswerCheck)),
        ),
    )


def _list_url(category: Category, sort: str = "", brand: str = "", limit: str = "") -> UrlCheck:
    wanted = (("sort", sort),) if sort else ()
    return UrlCheck("shop", f"/category/{category.slug}", (*wanted, ("brand", brand), ("max", limit)))


def _sorted_lists(categories: Sequence[Category], rng: random.Random) -> Iterator[Draft]:
    pairs = [(category, sort) for category, sort in product(categories, SORTS) if sort != "name"]
    for index, (category, sort) in enumerate(rng.sample(pairs, k=len(pairs))):
        intent = f"Sort the {category.name} products by {SORTS[sort]}."
        yield _list_draft(intent, category, _list_url(category, sort), index % 2 == 1, sort, "", "")


def _brand_lists(pairs: Sequence[tuple[Category, str]]) -> Iterator[Draft]:
    for index, (category, brand) in enumerate(pairs):
        intent = f"Show only the {category.name} products of the brand {brand}."
        yield _list_draft(intent, category, _list_url(category, brand=brand), index % 2 == 1, "", brand, "")


def _price_limits(categories: Sequence[Category], rng: random.Random) -> Iterator[Draft]:
    pairs = list(product(categories, (15, 20, 30, 40, 50, 60)))
    for category, dollars in rng.sample(pairs, k=len(pairs)):
        intent = f"Show only the {category.name} products with a max price of {dollars}."
        yield _list_draft(intent, category, _list_url(category, limit=str(dollars)), False, "", "", str(dollars))


def _superlatives(data: ShopData, rng: random.Random) -> Iterator[Draft]:
    pairs = list(product(data.categories, _SUPERLATIVES))
    for category, which in rng.sample(pairs, k=len(pairs)):
        best = _best(data, [item for item in data.products if item.category_id == category.id], which)
        if best:
            intent = f"What is the {which} {category.name} product?"
            yield _list_draft(intent, category, AnswerCheck((best,)), False, _SUPERLATIVES[which], "", "")


def _superlatives_of_brand(data: ShopData, pairs: Sequence[tuple[Category, str]]) -> Iterator[Draft]:
    for index, ((category, brand), which) in enumerate(zip(pairs, cycle(_SUPERLATIVES), strict=False)):
        own = [item for item in data.products if item.category_id == category.id and item.brand == brand]
        best = _best(data, own, which)
        if best:
            intent = f"What is the {which} {category.name} product of the brand {brand}?"
            sort = _SUPERLATIVES[which]
            yield _list_draft(intent, category, AnswerCheck((best,)), index % 2 == 1, sort, brand, "")


def _best(data: ShopData, items: Sequence[Product], which: str) -> str | None:
    """The product's name, or None when two share the first place."""

    def merit(item: Product) -> float:
        if which == "best rated":
            stars = [review.stars for review in data.reviews if review.product_id == item.id]
            return sum(stars) / len(stars) if stars else 0.0
        return item.price_cents if which == "most expensive" else -item.price_cents

    first, second = sorted(items, key=merit, reverse=True)[:2]
    return first.name if merit(first) > merit(second) else None
