"""The start rows around the orders: who bought what and when, how it was sent, what came back, what was noted."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from clickgrad.worlds.shop import content, words
from clickgrad.worlds.shop.rows import (
    Address,
    Customer,
    Order,
    OrderItem,
    OrderNote,
    Product,
    Promotion,
    Return,
    Shipment,
)
from clickgrad.worlds.site import NOW

SHIPPING_CENTS = {"Standard": 400, "Express": 900, "Next Day": 1500}
PAYMENT_METHODS = ("Credit Card", "Gift Card", "Cash on Delivery")
STATUSES = ("Processing", "On Hold", "Shipped", "Delivered", "Cancelled")

ORDERS = 1000
DEFAULT_USER_ORDERS = 14
FIRST_ORDER_ID = 1001
DAYS = 430  # since the first order
RETURNS = 40
NOTES = 150


@dataclass(frozen=True, slots=True)
class Sales:
    orders: tuple[Order, ...]
    order_items: tuple[OrderItem, ...]


def stamp(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="minutes")


def sales(
    rng: random.Random,
    products: Sequence[Product],
    customers: Sequence[Customer],
    addresses: Sequence[Address],
    promotions: Sequence[Promotion],
) -> Sales:
    buyers = _buyers(rng, customers)
    # A squared draw leans to recent days, where orders are still on their way.
    moments = sorted(NOW - timedelta(minutes=1 + int(rng.random() ** 2 * DAYS * 24 * 60)) for _ in buyers)
    statuses = [_status(rng, moment) for moment in moments]
    months = [stamp(moment)[:7] for moment in moments]
    items = _separate_leaders(_items(rng, products, months), months, statuses)
    homes = {customer.id: [home for home in addresses if home.customer_id == customer.id] for customer in customers}
    goods: Counter[int] = Counter()
    for item in items:
        goods[item.order_id] += item.quantity * item.price_cents
    orders: list[Order] = []
    for id_, (buyer, moment, status) in enumerate(zip(buyers, moments, statuses, strict=True), FIRST_ORDER_ID):
        method, payment = rng.choice(tuple(SHIPPING_CENTS)), rng.choice(PAYMENT_METHODS)
        address = rng.choice(homes[buyer]).line
        valid = [promotion for promotion in promotions if promotion.valid_on(stamp(moment)[:10])]
        coupon = rng.choice(valid) if valid and rng.random() < 0.15 else None
        discount = coupon.discount_cents(goods[id_], SHIPPING_CENTS[method]) if coupon else 0
        total = goods[id_] + SHIPPING_CENTS[method] - discount
        code = coupon.code if coupon else ""
        orders.append(Order(id_, buyer, stamp(moment), status, method, payment, address, code, discount, total))
    return Sales(tuple(orders), tuple(items))


def _buyers(rng: random.Random, customers: Sequence[Customer]) -> list[int]:
    """Everybody has bought something; some come often. The default user's orders are spread over all the time."""
    others = [customer.id for customer in customers[1:]]
    ranked = rng.sample(others, len(others))
    eager = [1 / (rank + 12) for rank in range(len(others))]
    buyers = others + rng.choices(ranked, eager, k=ORDERS - DEFAULT_USER_ORDERS - len(others))
    rng.shuffle(buyers)
    for share in range(DEFAULT_USER_ORDERS):
        buyers.insert(rng.randrange(share * ORDERS, (share + 1) * ORDERS) // DEFAULT_USER_ORDERS, 1)
    first, second = (buyer for buyer, _ in Counter(buyers).most_common(2))
    if buyers.count(first) == buyers.count(second):
        buyers[buyers.index(second)] = first
    return buyers


def _status(rng: random.Random, placed: datetime) -> str:
    age = NOW - placed
    if age > timedelta(days=21):
        return rng.choices(("Delivered", "Cancelled"), (6, 1))[0]
    if age > timedelta(days=10):
        return rng.choices(("Delivered", "Shipped", "Cancelled"), (4, 4, 1))[0]
    if age > timedelta(days=4):
        return rng.choices(("Processing", "Shipped", "On Hold"), (3, 5, 1))[0]
    return rng.choices(("Processing", "On Hold"), (6, 1))[0]


def _items(rng: random.Random, products: Sequence[Product], months: Sequence[str]) -> list[OrderItem]:
    """A few products sell far better than the rest, and every month has a hit of its own."""
    sold = [product for product in products if product.enabled]
    ranked = rng.sample(sold, len(sold))
    popular = [1 / (rank + 6) for rank in range(len(ranked))]
    hits = dict(zip(sorted(set(months)), rng.sample(ranked[20:], len(set(months))), strict=True))
    items: list[OrderItem] = []
    for order_id, month in enumerate(months, FIRST_ORDER_ID):
        chosen: dict[int, Product] = {}
        for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
            product = hits[month] if rng.random() < 0.12 else rng.choices(ranked, popular)[0]
            chosen[product.id] = product
        for product in chosen.values():
            size = rng.choice(product.size_options) if product.sizes else ""
            quantity = rng.choice((1, 1, 1, 2, 2, 3))
            items.append(OrderItem(len(items) + 1, order_id, product.id, size, quantity, product.price_cents))
    return items


def _separate_leaders(items: list[OrderItem], months: Sequence[str], statuses: Sequence[str]) -> list[OrderItem]:
    """Let the first three of every month differ in pieces sold, so that "the bestseller" is one product.

    Whether cancelled orders count or not: the pieces are added to orders that were kept.
    """
    items = list(items)
    for month in sorted(set(months)):
        pieces: Counter[int] = Counter()
        kept: Counter[int] = Counter()
        place: dict[int, int] = {}  # product -> where one of its kept items stands
        for index, item in enumerate(items):
            if months[item.order_id - FIRST_ORDER_ID] == month:
                pieces[item.product_id] += item.quantity
                if statuses[item.order_id - FIRST_ORDER_ID] != "Cancelled":
                    kept[item.product_id] += item.quantity
                    place[item.product_id] = index
        leaders = sorted(kept, key=lambda product_id: (-kept[product_id], product_id))[:3]
        for rank, leader in reversed(list(enumerate(leaders))):
            behind = [product_id for product_id in pieces if product_id not in leaders[: rank + 1]]
            missing = max(max(count[other] for other in behind) + 1 - count[leader] for count in (pieces, kept))
            if missing > 0:
                index = place[leader]
                items[index] = replace(items[index], quantity=items[index].quantity + missing)
                pieces[leader] += missing
                kept[leader] += missing
    return items


def shipments(rng: random.Random, orders: Sequence[Order]) -> Iterator[Shipment]:
    sent = [order for order in orders if order.status in ("Shipped", "Delivered")]
    for id_, order in enumerate(sent, 1):
        carrier = rng.choice(tuple(content.CARRIERS))
        moment = datetime.fromisoformat(order.created) + timedelta(minutes=rng.randint(10 * 60, 3 * 24 * 60))
        tracking = f"{content.CARRIERS[carrier]}{rng.randint(10**7, 10**8 - 1)}"
        yield Shipment(id_, order.id, carrier, tracking, stamp(moment))


def returns(rng: random.Random, orders: Sequence[Order], items: Sequence[OrderItem]) -> Iterator[Return]:
    """Of delivered orders; the default user's are left alone."""
    delivered = {order.id: order for order in orders if order.status == "Delivered" and order.customer_id != 1}
    chosen = rng.sample([item for item in items if item.order_id in delivered], RETURNS)
    for id_, item in enumerate(sorted(chosen, key=lambda item: item.order_id), 1):
        placed = datetime.fromisoformat(delivered[item.order_id].created)
        moment = min(placed + timedelta(days=rng.randint(9, 25)), NOW - timedelta(hours=rng.randint(2, 60)))
        recent = NOW - moment < timedelta(days=20)
        status = "Requested" if recent else rng.choices(("Approved", "Refused", "Requested"), (6, 2, 2))[0]
        yield Return(
            id=id_,
            order_item_id=item.id,
            quantity=rng.randint(1, item.quantity),
            reason=rng.choice(
                words.RETURN_REASONS if item.size else words.RETURN_REASONS[:2] + words.RETURN_REASONS[3:]
            ),
            comment=rng.choice(words.RETURN_COMMENTS),
            status=status,
            created=stamp(moment),
        )


def order_notes(rng: random.Random, orders: Sequence[Order], staff_ids: Sequence[int]) -> Iterator[OrderNote]:
    for id_, order in enumerate(sorted(rng.sample(orders, NOTES), key=lambda order: order.id), 1):
        moment = datetime.fromisoformat(order.created) + timedelta(minutes=rng.randint(5, 30 * 60))
        staff_id = None if rng.random() < 0.1 else rng.choice(staff_ids)
        text, notify = rng.choice(words.ORDER_NOTES), rng.random() < 0.3
        yield OrderNote(id_, order.id, staff_id, text, notify, stamp(min(moment, NOW)))
