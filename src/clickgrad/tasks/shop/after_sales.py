"""What can still be done with an order: cancel it, order its items again, send one back."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import cycle, product

from clickgrad.tasks.shop.ordering import form_params, form_turns
from clickgrad.tasks.shop.records import (
    EMMA,
    Purchase,
    Records,
    in_turn,
    inserted,
    placed,
    put_in_cart,
    records,
    shuffled,
    updated,
)
from clickgrad.tasks.templates import Draft
from clickgrad.types import StateCheck
from clickgrad.worlds.shop.data import PAYMENT_METHODS, SHIPPING_CENTS, Order, OrderItem
from clickgrad.worlds.shop.listing import PAGE_SIZE
from clickgrad.worlds.shop.words import RETURN_COMMENTS, RETURN_REASONS


def order_actions(seed: int) -> Iterator[Draft]:
    shop, rng = records(seed), random.Random(f"shop.order_actions {seed}")
    open_orders = [order for order in shop.data.orders if order.status == "Processing"]
    return in_turn(
        _cancelled(shop, iter(shuffled(rng, open_orders))),
        _bought_again(shop, rng),
        _reordered(shop, iter(shuffled(rng, shop.data.orders))),
        _cancelled_and_reordered(shop, rng),
        _all_cancelled(shop),
    )


def _start(shop: Records, order: Order, start: str) -> tuple[str, int]:
    """Where a task about an order may start, and how many turns it takes from there to the order's page."""
    if start == "order":
        return f"/orders/{order.id}", 0
    turns = shop.order_page(order) + 1
    return ("/", turns + 1) if start == "home" else ("/orders", turns)


def _available(shop: Records, order: Order) -> bool:
    """Whether all of it can be put into its customer's cart once more."""
    held: dict[int, int] = {}
    for line in shop.cart_lines(order.customer_id) + shop.lines_of(order):
        held[line.product.id] = held.get(line.product.id, 0) + line.quantity
    return all(pieces <= shop.products[product_id].stock for product_id, pieces in held.items())


def _cancelled(shop: Records, orders: Iterator[Order]) -> Iterator[Draft]:
    for order, start in zip(orders, cycle(("order", "list", "home")), strict=False):
        path, clicks = _start(shop, order, start)
        yield Draft(
            intent=f"Cancel order {order.id}.",
            start_path=path,
            checks=(StateCheck((updated("orders", order.id, status="Cancelled"),)),),
            expert_turns=clicks + 2,
            params=(("cancel", order.id), ("reorder", None), ("shipping", None)),
            user=shop.shopper(order.customer_id),
        )


def _reordered(shop: Records, orders: Iterator[Order]) -> Iterator[Draft]:
    fit = (order for order in orders if order.customer_id != EMMA and _available(shop, order))
    for order, start in zip(fit, cycle(("home", "order", "list")), strict=False):
        path, clicks = _start(shop, order, start)
        yield Draft(
            intent=f"Reorder what was in order {order.id}: put it all into the cart.",
            start_path=path,
            checks=(StateCheck(tuple(put_in_cart(shop, order.customer_id, shop.lines_of(order)))),),
            expert_turns=clicks + 2,
            params=(("cancel", None), ("reorder", order.id), ("shipping", None)),
            user=shop.shopper(order.customer_id),
        )


def _bought_again(shop: Records, rng: random.Random) -> Iterator[Draft]:
    """The default user, whose cart is empty, orders something once more."""
    orders = [order for order in shop.orders_of[EMMA] if _available(shop, order)]
    ways = cycle(shuffled(rng, product(SHIPPING_CENTS, PAYMENT_METHODS, shop.addresses_of[EMMA])))
    for order, choice in zip(shuffled(rng, orders * 3), ways, strict=False):
        shipping, payment, address = choice
        path, clicks = _start(shop, order, "home")
        yield Draft(
            intent=f"Reorder order {order.id} and place it with {shipping} shipping to my {address.label} address "
            f"and {payment} payment.",
            start_path=path,
            checks=(StateCheck(placed(shop, Purchase(EMMA, shop.lines_of(order), *choice))),),
            expert_turns=clicks + 2 + form_turns(choice) + 1,  # Reorder, Checkout, the form, exit
            params=(("cancel", None), ("reorder", order.id), *form_params(choice)),
        )


def _all_cancelled(shop: Records) -> Iterator[Draft]:
    """Of customers whose first page of orders shows where the open ones end."""
    for id_, orders in shop.orders_of.items():
        pending = [order for order in orders if order.status == "Processing"]
        if len(pending) > 1 and orders[:PAGE_SIZE][-1] not in pending and pending[-1] in orders[:PAGE_SIZE]:
            yield Draft(
                intent="Cancel all of my orders that are Processing.",
                start_path="/",
                checks=(StateCheck(tuple(updated("orders", order.id, status="Cancelled") for order in pending)),),
                expert_turns=3 * len(pending) + 1,  # for each: My Orders, the order, Cancel Order; at last exit
                params=(("cancel all", True),),
                user=shop.shopper(id_),
            )


def _cancelled_and_reordered(shop: Records, rng: random.Random) -> Iterator[Draft]:
    for id_ in shuffled(rng, shop.orders_of):
        pending = [order for order in shop.orders_of[id_] if order.status == "Processing"]
        past = [order for order in shop.orders_of[id_] if order.status == "Delivered" and _available(shop, order)]
        if not pending or not past:
            continue
        gone, wanted = rng.choice(pending), rng.choice(past)
        rows = (
            updated("orders", gone.id, status="Cancelled"),
            *put_in_cart(shop, id_, shop.lines_of(wanted)),
        )
        yield Draft(
            intent=f"Cancel order {gone.id}, then reorder what was in order {wanted.id}: put it all into the cart.",
            start_path="/",
            checks=(StateCheck(rows),),
            # My Orders, the order, Cancel Order; My Orders, the other order, Reorder; exit
            expert_turns=7 + shop.order_page(gone) + shop.order_page(wanted),
            params=(("cancel", gone.id), ("reorder", wanted.id), ("shipping", None)),
            user=shop.shopper(id_),
        )


def return_item(seed: int) -> Iterator[Draft]:
    """One item, or two for the same reason."""
    shop, rng = records(seed), random.Random(f"shop.return_item {seed}")
    sent_back = {entry.order_item_id for entry in shop.data.returns}
    delivered = shuffled(rng, (order for order in shop.data.orders if order.status == "Delivered"))
    left = {order: [item for item in shop.items_of[order.id] if item.id not in sent_back] for order in delivered}
    one = iter([(order, items) for order, items in left.items() if len(items) == 1])
    two = iter([(order, items[:2]) for order, items in left.items() if len(items) > 1])
    comments = cycle(shuffled(rng, sorted(set(RETURN_COMMENTS) - {""})))
    for pile, start, with_comment in cycle(
        ((one, "home", True), (two, "order", False), (one, "order", False), (two, "home", True), (one, "list", True))
    ):
        found = next(pile, None)
        if found is None:
            return
        yield _returned(shop, rng, *found, start, next(comments) if with_comment else "")


def _returned(
    shop: Records, rng: random.Random, order: Order, items: list[OrderItem], start: str, comment: str
) -> Draft:
    reason = rng.choice([one for one in RETURN_REASONS if one != "Wrong size" or all(item.size for item in items)])
    pieces = [item.quantity if len(items) > 1 else rng.randint(1, item.quantity) for item in items]
    names = [shop.products[item.product_id].name for item in items]
    wishes = [f"{quantity} of {name}" for quantity, name in zip(pieces, names, strict=True)]
    said = f' and the comment "{comment}"' if comment else ""
    path, clicks = _start(shop, order, start)
    rows = [
        inserted(
            "returns", order_item_id=item.id, quantity=quantity, reason=reason, comment=comment, status="Requested"
        )
        for item, quantity in zip(items, pieces, strict=True)
    ]
    spelled = [f"{name}={quantity}={item.size}" for name, quantity, item in zip(names, pieces, items, strict=True)]
    return Draft(
        intent=f'Return {" and ".join(wishes)} from order {order.id} with the reason "{reason}"{said}',
        start_path=path,
        checks=(StateCheck(tuple(rows)),),
        # for each: Return an Item, item, [quantity,] reason, [comment,] Request Return; at last exit
        expert_turns=clicks + sum(4 + (quantity > 1) + bool(comment) for quantity in pieces) + 1,
        params=(
            ("order", order.id),
            ("reason", reason),
            ("comment", comment or None),
            *((f"line{number}", line) for number, line in enumerate(spelled)),
        ),
        user=shop.shopper(order.customer_id),
    )
