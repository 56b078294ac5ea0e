"""Requests that this shop cannot fulfil. The right answer is N/A, and nothing may have changed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import cycle

from clickgrad.tasks.shop.finding import UNTOUCHED
from clickgrad.tasks.shop.records import Records, in_turn, records, shuffled
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, Scalar
from clickgrad.worlds.people import DEFAULT_USER
from clickgrad.worlds.shop.words import ADJECTIVES, CATALOGUE

_STRANGE_NOUNS = ("Bicycle", "Guitar", "Laptop", "Carpet", "Piano", "Camera", "Sofa", "Oven")


def unachievable(seed: int) -> Iterator[Draft]:
    shop, rng = records(seed), random.Random(f"shop.unachievable {seed}")
    return in_turn(
        _unknown_products(shop, rng),
        _late_cancels(shop, rng),
        _wrong_sizes(shop, rng),
        _bad_coupons(shop, rng),
        _sold_out(shop, rng),
        _early_returns(shop, rng),
    )


def _draft(intent: str, path: str, turns: int, kind: str, user: str = DEFAULT_USER, **params: Scalar) -> Draft:
    checks = (AnswerCheck(("N/A",)), UNTOUCHED)
    return Draft(intent, path, checks, turns, (("kind", kind), *params.items()), user)


def _unknown_products(shop: Records, rng: random.Random) -> Iterator[Draft]:
    """Search, see that nothing is found."""
    materials = sorted({material for nouns in CATALOGUE.values() for own in nouns.values() for material in own})
    questions = cycle(("What is the price of {}?", "What is the brand of {}?", "Add {} to the cart."))
    for noun in shuffled(rng, _STRANGE_NOUNS * 2):
        name = f"{rng.choice(ADJECTIVES)} {rng.choice(materials)} {noun}"
        yield _draft(next(questions).format(name), "/", 2, "unknown", product=name)


def _late_cancels(shop: Records, rng: random.Random) -> Iterator[Draft]:
    """An order that was sent has no Cancel Order button."""
    sent = [order for order in shop.data.orders if order.status in ("Shipped", "Delivered")]
    for order, path in zip(shuffled(rng, sent), cycle(("/", "/orders")), strict=False):
        turns = (path == "/") + shop.order_page(order) + 2
        user = shop.shopper(order.customer_id)
        yield _draft(f"Cancel order {order.id}.", path, turns, "cancel", user, order=order.id)


def _early_returns(shop: Records, rng: random.Random) -> Iterator[Draft]:
    """Only delivered orders have the link Return an Item."""
    waiting = [order for order in shop.data.orders if order.status in ("Processing", "Shipped", "On Hold")]
    for order, path in zip(shuffled(rng, waiting), cycle(("/orders", "/")), strict=False):
        name = shop.lines_of(order)[0].product.name
        turns = (path == "/") + shop.order_page(order) + 2
        intent, user = f"Return {name} from order {order.id}.", shop.shopper(order.customer_id)
        yield _draft(intent, path, turns, "return", user, order=order.id)


def _wrong_sizes(shop: Records, rng: random.Random) -> Iterator[Draft]:
    sizes = cycle(("Extra Large", "Tiny", "Extra Small"))
    for item, size in zip(shop.ladder_products(rng, sized=True), sizes, strict=False):
        intent = f"Add {item.name} in the size {size} to the cart."
        yield _draft(intent, "/", 3, "size", product=item.name, size=size)


def _bad_coupons(shop: Records, rng: random.Random) -> Iterator[Draft]:
    """Type the code, apply it, read that it is not valid."""
    bad = [coupon.code for coupon in shop.data.promotions if coupon not in shop.coupons]
    customers = shuffled(rng, (id_ for id_ in shop.cart_of if id_ not in shop.with_coupon))
    for id_, code, path in zip(customers, cycle(shuffled(rng, bad)), cycle(("/cart", "/")), strict=False):
        intent, user = f"Apply the coupon {code} to my cart.", shop.shopper(id_)
        yield _draft(intent, path, (path == "/") + 3, "coupon", user, coupon=code)


def _sold_out(shop: Records, rng: random.Random) -> Iterator[Draft]:
    for item in shuffled(rng, (item for item in shop.on_sale() if not item.stock)):
        yield _draft(f"Buy 2 of {item.name}.", "/", 3, "sold out", product=item.name)
