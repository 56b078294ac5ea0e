"""Templates that change the world: fill a cart, place an order, write a review. Each names the exact rows it leaves."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle, product

from clickgrad.tasks.drafts import DRAFTS, Draft
from clickgrad.tasks.shop.finding import list_path
from clickgrad.types import RowChange, StateCheck
from clickgrad.worlds.shop.data import DEFAULT_USER, PAYMENT_METHODS, SHIPPING_CENTS, CartItem, Product, ShopData

DEFAULT_USER_ID = 1
# stars -> titles and texts that go with them
_OPINIONS = {
    1: (("Not worth it", "Broke quickly", "Very poor"), ("I expected more.", "It does not work.", "I sent it back.")),
    2: (("Too small", "Poor quality", "Not for me"), ("I expected more.", "The color is wrong.", "It came late.")),
    3: (("Not bad", "It is okay", "Does the job"), ("The size is right.", "It came in two days.", "It is a bit loud.")),
    4: (
        ("Works well", "Good quality", "Nice color"),
        ("It is easy to clean.", "My family likes it.", "It looks good."),
    ),
    5: (("Great value", "Very happy", "Looks great"), ("It works every day.", "I bought two of them.", "I love it.")),
}


def add_to_cart(data: ShopData, products: Sequence[Product], rng: random.Random) -> Iterator[Draft]:
    # (start page, whether more than one is wanted, turns)
    ladder = (("product", False, 2), ("product", True, 3), ("list", False, 3), ("product", True, 3), ("home", True, 5))
    for item, (start, several, turns) in zip(products, cycle(ladder), strict=False):
        quantity = rng.randint(2, 9) if several else 1
        paths = {"product": f"/product/{item.id}", "list": list_path(data, item), "home": "/"}
        values = (("customer_id", DEFAULT_USER_ID), ("product_id", item.id), ("quantity", quantity))
        yield Draft(
            intent=f"Add {quantity} of {item.name} to the cart." if several else f"Add {item.name} to the cart.",
            start_path=paths[start],
            checks=(StateCheck((RowChange("cart_items", "insert", values),)),),
            user=DEFAULT_USER,
            expert_turns=turns,
            params=(("product", item.name), ("quantity", quantity)),
        )


def checkout(data: ShopData, rng: random.Random) -> Iterator[Draft]:
    """Each instance is another customer with another cart. The form starts at Standard and Credit Card."""
    customers = rng.sample(data.customers[1:], k=DRAFTS)
    combinations = rng.sample(pairs := list(product(SHIPPING_CENTS, PAYMENT_METHODS)), k=len(pairs))
    starts = (("/checkout", 0), ("/checkout", 0), ("/cart", 1), ("/", 2))  # and the clicks from there to the checkout
    steps = zip(customers, cycle(combinations), cycle(starts), strict=False)
    for customer, (shipping, payment), (start_path, clicks) in steps:
        cart = [item for item in data.cart_items if item.customer_id == customer.id]
        yield Draft(
            intent=f"Place the order in my cart with {shipping} shipping and {payment} payment.",
            start_path=start_path,
            checks=(StateCheck(_order_changes(data, cart, shipping, payment)),),
            user=customer.email,
            expert_turns=clicks + (shipping != "Standard") + (payment != "Credit Card") + 2,
            params=(("customer", customer.email), ("shipping", shipping), ("payment", payment)),
        )


def _order_changes(data: ShopData, cart: Sequence[CartItem], shipping: str, payment: str) -> tuple[RowChange, ...]:
    products = {item.id: item for item in data.products}
    order_id = data.orders[-1].id + 1
    total = SHIPPING_CENTS[shipping] + sum(line.quantity * products[line.product_id].price_cents for line in cart)
    order = (
        ("id", order_id),
        ("customer_id", cart[0].customer_id),
        ("status", "Processing"),
        ("shipping_method", shipping),
        ("payment_method", payment),
        ("total_cents", total),
    )
    changes = [RowChange("orders", "insert", order)]
    for line in cart:
        bought = (("order_id", order_id), ("product_id", line.product_id), ("quantity", line.quantity))
        left = products[line.product_id].stock - line.quantity
        changes.append(RowChange("order_items", "insert", bought))
        changes.append(RowChange("products", "update", (("stock", left),), key=line.product_id))
        changes.append(RowChange("cart_items", "delete", (("id", line.id),)))
    return tuple(changes)


def write_review(products: Sequence[Product], rng: random.Random) -> Iterator[Draft]:
    # (start page, whether a text is wanted, turns)
    ladder = (("form", False, 4), ("product", False, 5), ("form", True, 5), ("product", True, 6))
    for item, (start, wants_text, turns) in zip(products, cycle(ladder), strict=False):
        stars = rng.randint(1, 5)
        title, text = map(rng.choice, _OPINIONS[stars])
        noun = "star" if stars == 1 else "stars"
        values = (("product_id", item.id), ("customer_id", DEFAULT_USER_ID), ("stars", stars), ("title", title))
        asked = f'Review {item.name} with {stars} {noun} and the title "{title}"'
        yield Draft(
            intent=f'{asked} and the text "{text}"' if wants_text else f"{asked}.",
            start_path=f"/product/{item.id}" + ("/review" if start == "form" else ""),
            checks=(StateCheck((RowChange("reviews", "insert", (*values, *((("text", text),) * wants_text))),)),),
            user=DEFAULT_USER,
            expert_turns=turns,
            params=(("product", item.name), ("stars", stars), ("title", title), ("text", text if wants_text else None)),
        )
