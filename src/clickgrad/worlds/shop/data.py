"""What the shop and its back office hold at the start, as plain values: the seed decides all of it.

Tasks are written from these. The rows are made in `catalogue`, `sales` and here; what staff wrote is in `content`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cache

from clickgrad.worlds.people import FIRST_NAMES, people
from clickgrad.worlds.shop import catalogue, content, sales, words
from clickgrad.worlds.shop.rows import (
    Address,
    CartCoupon,
    CartItem,
    Category,
    CmsPage,
    ContactMessage,
    Customer,
    Order,
    OrderItem,
    OrderNote,
    Product,
    Promotion,
    Return,
    Review,
    SearchTerm,
    Setting,
    Shipment,
    ShopData,
    Staff,
    Subscriber,
    WishItem,
)
from clickgrad.worlds.shop.sales import DEFAULT_USER_ORDERS, FIRST_ORDER_ID, PAYMENT_METHODS, SHIPPING_CENTS, STATUSES
from clickgrad.worlds.site import NOW

__all__ = [
    "DEFAULT_USER_ORDERS", "FIRST_ORDER_ID", "PAYMENT_METHODS", "SHIPPING_CENTS", "STATUSES",
    "Address", "CartCoupon", "CartItem", "Category", "CmsPage", "ContactMessage", "Customer", "Order", "OrderItem",
    "OrderNote", "Product", "Promotion", "Return", "Review", "SearchTerm", "Setting", "Shipment", "ShopData", "Staff",
    "Subscriber", "WishItem", "shop_data",
]  # fmt: skip

MESSAGES = 25
SUBSCRIBERS = 80
SEARCH_TERMS = 80


@cache
def shop_data(seed: int) -> ShopData:
    rng = random.Random(f"shop {seed}")
    categories = tuple(Category(i, name, name.lower()) for i, name in enumerate(words.CATALOGUE, 1))
    products = tuple(catalogue.products(rng, categories))
    customers = tuple(catalogue.customers(rng, seed))
    addresses = tuple(catalogue.addresses(rng, customers))
    promotions = tuple(Promotion(id_, *values) for id_, values in enumerate(content.PROMOTIONS, 1))
    sold = sales.sales(rng, products, customers, addresses, promotions)
    staff = tuple(
        Staff(id_, person.name, person.email, person.password, role)
        for id_, (person, role) in enumerate(zip(people(seed), content.STAFF_ROLES, strict=False), 1)
    )
    return ShopData(
        categories=categories,
        products=products,
        customers=customers,
        addresses=addresses,
        reviews=catalogue.reviews(rng, products, customers),
        cart_items=tuple(catalogue.cart_items(rng, products, customers)),
        wish_items=tuple(catalogue.wish_items(rng, products, customers)),
        promotions=promotions,
        cart_coupons=tuple(catalogue.cart_coupons(rng, promotions, customers)),
        orders=sold.orders,
        order_items=sold.order_items,
        returns=tuple(sales.returns(rng, sold.orders, sold.order_items)),
        contact_messages=tuple(_messages(rng, customers)),
        subscribers=tuple(_subscribers(rng, customers)),
        staff=staff,
        order_notes=tuple(sales.order_notes(rng, sold.orders, [member.id for member in staff])),
        shipments=tuple(sales.shipments(rng, sold.orders)),
        cms_pages=tuple(
            CmsPage(id_, title, slug, "\n".join(lines), status, updated)
            for id_, (title, slug, status, updated, lines) in enumerate(content.CMS_PAGES, 1)
        ),
        search_terms=tuple(_search_terms(rng, products)),
        settings=tuple(Setting(id_, *pair) for id_, pair in enumerate(content.SETTINGS, 1)),
    )


def _days_ago(rng: random.Random, most: int) -> str:
    return sales.stamp(NOW - timedelta(minutes=rng.randint(60, most * 24 * 60)))


def _messages(rng: random.Random, customers: Sequence[Customer]) -> Iterator[ContactMessage]:
    moments = sorted(_days_ago(rng, 60) for _ in range(MESSAGES))
    for id_, moment in enumerate(moments, 1):
        sender = rng.choice(customers[1:]) if rng.random() < 0.8 else None
        email = sender.email if sender else f"{rng.choice(FIRST_NAMES).lower()}{id_}@mail.example"
        subject = rng.choice(tuple(words.MESSAGES))
        text = rng.choice(words.MESSAGES[subject])
        yield ContactMessage(id_, sender.id if sender else None, email, subject, text, moment)


def _subscribers(rng: random.Random, customers: Sequence[Customer]) -> Iterator[Subscriber]:
    moments = sorted(_days_ago(rng, 400) for _ in range(SUBSCRIBERS))
    known = iter(rng.sample(customers[1:], SUBSCRIBERS))
    for id_, moment in enumerate(moments, 1):
        has_account = rng.random() < 0.4
        email = next(known).email if has_account else f"{rng.choice(FIRST_NAMES).lower()}{100 + id_}@mail.example"
        yield Subscriber(id_, email, moment[:10])


def _search_terms(rng: random.Random, products: Sequence[Product]) -> Iterator[SearchTerm]:
    """Nouns, pairs such as "steel mug", brands, and things the shop does not have. No two are used equally often."""
    nouns = [noun.lower() for catalogue_ in words.CATALOGUE.values() for noun in catalogue_]
    pairs = [" ".join(item.name.lower().split()[1:]) for item in products if item.enabled]
    brands = [brand.lower() for brand in words.BRANDS]
    strangers = ["phone", "bicycle", "guitar", "coffee", "laptop", "carpet"]
    terms = [*rng.sample(nouns, 36), *rng.sample(pairs, 30), *rng.sample(brands, 8), *strangers]
    uses = rng.sample(range(2, 220), SEARCH_TERMS)
    for id_, (term, many) in enumerate(zip(rng.sample(terms, SEARCH_TERMS), uses, strict=True), 1):
        yield SearchTerm(id_, term, _results(term, products), many, _days_ago(rng, 90))


def _results(term: str, products: Sequence[Product]) -> int:
    """How many products the shop's search finds."""
    texts = [f"{item.name} {item.brand} {item.color}".lower() for item in products if item.enabled]
    return sum(all(word in text for word in term.split()) for text in texts)
