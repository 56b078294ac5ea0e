"""What the shop's books say, worked out from the start data the way the back office's lists and reports do it."""

from __future__ import annotations

import calendar
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from clickgrad.worlds.pages import day
from clickgrad.worlds.shop.data import shop_data
from clickgrad.worlds.shop.rows import Category, Customer, Order, OrderItem, Product, Review, ShopData

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time as an intent names it, with its first and last day."""

    name: str
    first: str
    last: str

    def holds(self, stamp: str) -> bool:
        return self.first <= stamp[:10] <= self.last


@dataclass(frozen=True, slots=True)
class Records:
    data: ShopData
    products: dict[int, Product]
    customers: dict[int, Customer]
    kept: tuple[Order, ...]  # those that reports count
    items: dict[int, tuple[OrderItem, ...]]  # by order
    months: tuple[Span, ...]  # with orders, the oldest first
    quarters: tuple[Span, ...]
    # What the search boxes look through, in the order of the rows and in small letters.
    product_texts: tuple[str, ...]
    order_texts: tuple[str, ...]
    review_texts: tuple[str, ...]

    def counted(self, span: Span | None = None) -> list[Order]:
        """The orders of a span that reports count."""
        return [order for order in self.kept if span is None or span.holds(order.created)]

    def bestsellers(self, span: Span | None = None, category: Category | None = None) -> list[tuple[str, int]]:
        """Name and pieces, the best first."""
        pieces: Counter[int] = Counter()
        for order in self.counted(span):
            for item in self.items[order.id]:
                if category is None or self.products[item.product_id].category_id == category.id:
                    pieces[item.product_id] += item.quantity
        return ranked((self.products[id_].name, number) for id_, number in pieces.items())

    def buyers(self, span: Span | None = None) -> list[tuple[str, int]]:
        """Name and orders, the keenest first."""
        orders = Counter(order.customer_id for order in self.counted(span))
        return ranked((self.customers[id_].name, number) for id_, number in orders.items())

    def orders_found(self, search: str) -> list[Order]:
        return _found(search, self.data.orders, self.order_texts)

    def reviews_found(self, search: str) -> list[Review]:
        return _found(search, self.data.reviews, self.review_texts)

    def products_found(self, search: str) -> list[Product]:
        """As the list shows them."""
        return sorted(_found(search, self.data.products, self.product_texts), key=lambda item: item.name)


@cache
def records(seed: int) -> Records:
    data = shop_data(seed)
    products = {item.id: item for item in data.products}
    customers = {customer.id: customer for customer in data.customers}
    items: dict[int, tuple[OrderItem, ...]] = {order.id: () for order in data.orders}
    for item in data.order_items:
        items[item.order_id] += (item,)
    months = sorted({order.created[:7] for order in data.orders})
    return Records(
        data=data,
        products=products,
        customers=customers,
        kept=tuple(order for order in data.orders if order.status != "Cancelled"),
        items=items,
        months=tuple(map(_month, months)),
        quarters=tuple(_quarter(month) for month in months if month[5:] in ("01", "04", "07", "10")),
        product_texts=_small(f"{one.name} {one.brand} {one.sku}" for one in data.products),
        order_texts=_small(
            f"order {one.id} {customers[one.customer_id].name} {customers[one.customer_id].email}"
            for one in data.orders
        ),
        review_texts=_small(
            f"{products[one.product_id].name} {customers[one.customer_id].name} {one.title} {one.text}"
            for one in data.reviews
        ),
    )


def _small(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(text.lower() for text in texts)


def _found(search: str, rows: Sequence[Row], texts: Sequence[str]) -> list[Row]:
    """The rows in whose text every word of the search occurs."""
    words = search.lower().split()
    return [row for row, text in zip(rows, texts, strict=True) if all(word in text for word in words)]


def ranked(pairs: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def stands_alone(ranking: Sequence[tuple[str, int]], rank: int) -> bool:
    """Nobody else has the same number, so the place is one's own."""
    near = ranking[max(rank - 1, 0) : rank + 2]
    return len(ranking) > rank and sum(number == ranking[rank][1] for _, number in near) == 1


def best(names: Sequence[str], merit: Callable[[str], int]) -> str | None:
    """The one with the highest merit; None when two share the first place."""
    first, second = sorted(names, key=merit, reverse=True)[:2]
    return first if merit(first) > merit(second) else None


def _month(month: str) -> Span:
    year, number = map(int, month.split("-"))
    name, _, _ = day(f"{month}-01").split()
    return Span(f"{name} {year}", f"{month}-01", f"{month}-{calendar.monthrange(year, number)[1]}")


def _quarter(month: str) -> Span:
    year, number = map(int, month.split("-"))
    which = ("first", "second", "third", "fourth")[number // 3]
    return Span(f"the {which} quarter of {year}", f"{month}-01", _month(f"{year}-{number + 2:02d}").last)
