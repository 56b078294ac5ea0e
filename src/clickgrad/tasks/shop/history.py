"""Questions about a customer's orders: over all of them, about the latest, and which of them held a product."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import cycle

from clickgrad.tasks.shop.finding import UNTOUCHED
from clickgrad.tasks.shop.records import Records, in_turn, records, shuffled
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, Scalar
from clickgrad.worlds.pages import day, money
from clickgrad.worlds.shop.data import Order
from clickgrad.worlds.shop.listing import PAGE_SIZE

_MAX_OPENED = 7  # orders looked into until the right one is found


def _draft(
    shop: Records, customer_id: int, intent: str, path: str, turns: int, *answers: str, **params: Scalar
) -> Draft:
    """`turns` from the list of orders on."""
    checks = (AnswerCheck(answers), UNTOUCHED)
    return Draft(intent, path, checks, turns + (path == "/"), tuple(params.items()), shop.shopper(customer_id))


def spending(seed: int) -> Iterator[Draft]:
    """Over several orders, mostly of customers whose list has more than one page."""
    shop, rng = records(seed), random.Random(f"shop.spending {seed}")
    frequent = shuffled(rng, (id_ for id_, orders in shop.orders_of.items() if len(orders) > PAGE_SIZE))
    half = len(frequent) // 2
    others = shuffled(rng, (id_ for id_, orders in shop.orders_of.items() if 3 <= len(orders) <= PAGE_SIZE))
    return in_turn(
        _month_sums(shop, rng, frequent, "/"),
        _month_pieces(shop, frequent[:half], "/"),
        _status_counts(shop, rng, shuffled(rng, frequent)),
        _month_pieces(shop, frequent[half:], "/orders"),
        _highest(shop, shuffled(rng, frequent), "/"),
        _highest(shop, shuffled(rng, others), "/"),
    )


def _busy_month(shop: Records, rng: random.Random, id_: int) -> str | None:
    """One with several orders."""
    counts = Counter(order.created[:7] for order in shop.orders_of[id_])
    busy = sorted(month for month, count in counts.items() if count >= 2)
    return rng.choice(busy) if busy else None


def _last_page(orders: list[Order], month: str) -> int:
    """How often Next is clicked until an order older than the month, or the end, is in sight."""
    older = [index for index, order in enumerate(orders) if order.created[:7] < month]
    return (older[0] if older else len(orders) - 1) // PAGE_SIZE


def _month_sums(shop: Records, rng: random.Random, customers: list[int], path: str) -> Iterator[Draft]:
    for id_ in customers:
        orders, month = shop.orders_of[id_], _busy_month(shop, rng, id_)
        if month:
            name = _month_name(month)
            total = sum(order.total_cents for order in orders if order.created[:7] == month)
            intent = f"What do the totals of all my orders from {name} add up to?"
            turns = _last_page(orders, month) + 1
            yield _draft(shop, id_, intent, path, turns, money(total), kind="sum", month=name)


def _month_pieces(shop: Records, customers: list[int], path: str) -> Iterator[Draft]:
    """Every order of the month is opened and left again."""
    for id_ in customers:
        orders = shop.orders_of[id_]
        # The month with the most orders, the latest of such months.
        many, month = max((many, month) for month, many in Counter(order.created[:7] for order in orders).items())
        if many > 1:
            name = _month_name(month)
            own = [order for order in orders if order.created[:7] == month]
            pieces = sum(item.quantity for order in own for item in shop.items_of[order.id])
            intent = f"How many pieces did I order in {name}, all orders together?"
            turns = 2 * len(own) + _last_page(orders, month) + 1
            yield _draft(shop, id_, intent, path, turns, str(pieces), kind="pieces", month=name)


def _month_name(month: str) -> str:
    """2025-02 -> February 2025."""
    name, _, year = day(f"{month}-01").partition(" 1, ")
    return f"{name} {year}"


def _status_counts(shop: Records, rng: random.Random, customers: list[int]) -> Iterator[Draft]:
    for id_ in customers:
        orders = shop.orders_of[id_]
        counts = Counter(order.status for order in orders)
        status = rng.choice(sorted(counts))
        intent = f"How many of my orders have the status {status}?"
        pages = (len(orders) - 1) // PAGE_SIZE
        yield _draft(shop, id_, intent, "/", pages + 1, str(counts[status]), kind="count", status=status)


def _highest(shop: Records, customers: list[int], path: str) -> Iterator[Draft]:
    for id_ in customers:
        orders = shop.orders_of[id_]
        first, second = sorted(orders, key=lambda order: order.total_cents, reverse=True)[:2]
        if first.total_cents > second.total_cents:
            intent = "Which of my orders has the highest total? Give its number."
            answers = (str(first.id), f"Order {first.id}")
            yield _draft(shop, id_, intent, path, (len(orders) - 1) // PAGE_SIZE + 1, *answers, kind="highest")


def latest_order(seed: int) -> Iterator[Draft]:
    shop, rng = records(seed), random.Random(f"shop.latest_order {seed}")
    kinds = ("status", "most of 5", "dearest", "brand", "most of 4", "pieces", "stock", "most of 6", "tracking")
    return in_turn(*(_latest_drafts(shop, shuffled(rng, shop.orders_of), kind) for kind in kinds))


def _latest_drafts(shop: Records, customers: list[int], kind: str) -> Iterator[Draft]:
    paths = cycle(("/", "/", "/orders"))
    for id_ in customers:
        draft = _latest(shop, id_, shop.orders_of[id_][0], kind, next(paths))
        if draft:
            yield draft


def _latest(shop: Records, id_: int, order: Order, kind: str, path: str) -> Draft | None:
    lines = shop.lines_of(order)
    dearest = sorted(lines, key=lambda line: line.product.price_cents, reverse=True)
    tied = len(dearest) > 1 and dearest[0].product.price_cents == dearest[1].product.price_cents
    # The page shows the totals of the lines: the dearest by piece must be the dearest line too, to be a fair question.
    tied = tied or any(
        line.quantity * line.product.price_cents >= dearest[0].quantity * dearest[0].product.price_cents
        for line in dearest[1:]
    )
    if kind == "status":
        return _draft(shop, id_, "What is the status of my latest order?", "/", 1, order.status, kind=kind)
    if kind.startswith("most of"):
        return _fullest(shop, id_, int(kind[-1]), path)
    if kind == "pieces":
        intent = "How many pieces are in my latest order, all items together?"
        return _draft(shop, id_, intent, path, 2, str(sum(line.quantity for line in lines)), kind=kind)
    if kind == "tracking":
        sent = [shipment for shipment in shop.data.shipments if shipment.order_id == order.id]
        intent = "What is the tracking number of my latest order?"
        answers = (sent[0].tracking, f"{sent[0].carrier} {sent[0].tracking}") if sent else ()
        return _draft(shop, id_, intent, path, 2, *answers, kind=kind) if sent else None
    if tied:
        return None
    best = dearest[0].product
    intent, answer, turns = {
        "dearest": ("What is the most expensive item of my latest order?", best.name, 2),
        "brand": ("What is the brand of the most expensive item of my latest order?", best.brand, 3),
        "stock": ("How many of the most expensive item of my latest order are in stock?", str(best.stock), 3),
    }[kind]
    return _draft(shop, id_, intent, path, turns, answer, kind=kind)


def _fullest(shop: Records, id_: int, many: int, path: str) -> Draft | None:
    """Open each and come back, but for the last."""
    orders = shop.orders_of[id_][:many]
    pieces = {order.id: sum(item.quantity for item in shop.items_of[order.id]) for order in orders}
    ranked = sorted(pieces, key=pieces.__getitem__, reverse=True)
    if len(orders) < many or pieces[ranked[0]] == pieces[ranked[1]]:
        return None
    intent = f"Which of my {many} latest orders has the most pieces? Give its number."
    answers = (str(ranked[0]), f"Order {ranked[0]}")
    return _draft(shop, id_, intent, path, 2 * many, *answers, kind="most", many=many)


def find_order(seed: int) -> Iterator[Draft]:
    """Open the orders one by one, the latest first: two turns for each that is not the one."""
    shop, rng = records(seed), random.Random(f"shop.find_order {seed}")
    wanted: dict[int, list[tuple[int, int, Order]]] = {}  # orders opened in vain -> (customer, product, order)
    for id_, orders in shop.orders_of.items():
        bought = Counter(item.product_id for order in orders for item in shop.items_of[order.id])
        for place, order in enumerate(orders[: _MAX_OPENED + 1]):
            fresh = [item.product_id for item in shop.items_of[order.id] if bought[item.product_id] == 1]
            if fresh:
                wanted.setdefault(place, []).append((id_, rng.choice(fresh), order))
    rungs = (0, 4, 1, 5, 2, 6, 3, 7, 4, 7)
    piles = {place: iter(shuffled(rng, found)) for place, found in wanted.items()}
    kinds = ("number", "date", "pieces")
    for place, kind, path in zip(cycle(rungs), cycle(kinds), cycle(("/", "/orders")), strict=False):
        found = next(piles.get(place, iter(())), None)
        if found is None:
            return
        yield _found(shop, *found, kind, path, place)


def _found(shop: Records, id_: int, product_id: int, order: Order, kind: str, path: str, place: int) -> Draft:
    name = shop.products[product_id].name
    quantity = next(item.quantity for item in shop.items_of[order.id] if item.product_id == product_id)
    intent, answers = {
        "number": (f"Which of my orders contains {name}? Give its number.", (str(order.id), f"Order {order.id}")),
        "date": (f"On what date did I order {name}?", (day(order.created),)),
        "pieces": (
            f"I ordered {name} once. How many pieces?",
            (str(quantity), f"{quantity} piece{'s' if quantity > 1 else ''}"),
        ),
    }[kind]
    # Each wrong one costs a click and a way back; after the sixth, Next; then the right one and the answer.
    turns = 2 * place + place // PAGE_SIZE + 2
    return _draft(shop, id_, intent, path, turns, *answers, kind=kind, product=name)
