"""Templates that change the world: fill a cart, place an order, write a review. Each names the exact rows it leaves."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import cycle, product

from clickgrad.tasks.shop.records import EMMA, Purchase, inserted, placed, records
from clickgrad.tasks.templates import Draft
from clickgrad.types import StateCheck
from clickgrad.worlds.shop.data import PAYMENT_METHODS, SHIPPING_CENTS

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


def add_to_cart(seed: int) -> Iterator[Draft]:
    shop, rng = records(seed), random.Random(f"shop.add_to_cart {seed}")
    # (start page, whether more than one is wanted, turns)
    ladder = (("product", False, 2), ("product", True, 3), ("list", False, 3), ("product", True, 3), ("home", True, 5))
    for item, (start, several, turns) in zip(shop.ladder_products(rng, sized=False), cycle(ladder), strict=False):
        quantity = rng.randint(2, 9) if several else 1
        row = inserted("cart_items", customer_id=EMMA, product_id=item.id, size="", quantity=quantity)
        yield Draft(
            intent=f"Add {quantity} of {item.name} to the cart." if several else f"Add {item.name} to the cart.",
            start_path=shop.starts(item)[start][0],
            checks=(StateCheck((row,)),),
            expert_turns=turns,
            params=(("product", item.name), ("quantity", quantity)),
        )


def checkout(seed: int) -> Iterator[Draft]:
    """Each instance is another customer with another cart. The form starts at Standard and Credit Card."""
    shop, rng = records(seed), random.Random(f"shop.checkout {seed}")
    customers = [id_ for id_ in shop.customers if id_ != EMMA and id_ not in shop.with_coupon]
    combinations = rng.sample(pairs := list(product(SHIPPING_CENTS, PAYMENT_METHODS)), k=len(pairs))
    starts = (("/checkout", 0), ("/checkout", 0), ("/cart", 1), ("/", 2))  # and the clicks from there to the checkout
    steps = zip(rng.sample(customers, k=len(customers)), cycle(combinations), cycle(starts), strict=False)
    for id_, (shipping, payment), (start_path, clicks) in steps:
        bought = Purchase(id_, shop.cart_lines(id_), shipping, payment, shop.default_address(id_))
        yield Draft(
            intent=f"Place the order in my cart with {shipping} shipping and {payment} payment.",
            start_path=start_path,
            checks=(StateCheck(placed(shop, bought)),),
            user=shop.shopper(id_),
            expert_turns=clicks + (shipping != "Standard") + (payment != "Credit Card") + 2,
            params=(("customer", shop.shopper(id_)), ("shipping", shipping), ("payment", payment)),
        )


def write_review(seed: int) -> Iterator[Draft]:
    shop, rng = records(seed), random.Random(f"shop.write_review {seed}")
    # (start page, whether a text is wanted, turns)
    ladder = (("form", False, 4), ("product", False, 5), ("form", True, 5), ("product", True, 6))
    for item, (start, wants_text, turns) in zip(shop.ladder_products(rng), cycle(ladder), strict=False):
        stars = rng.randint(1, 5)
        title, text = map(rng.choice, _OPINIONS[stars])
        noun = "star" if stars == 1 else "stars"
        opinion = {"title": title, "text": text if wants_text else "", "status": "Pending"}
        review = inserted("reviews", product_id=item.id, customer_id=EMMA, stars=stars, **opinion)
        asked = f'Review {item.name} with {stars} {noun} and the title "{title}"'
        yield Draft(
            intent=f'{asked} and the text "{text}"' if wants_text else f"{asked}.",
            start_path=f"/product/{item.id}" + ("/review" if start == "form" else ""),
            checks=(StateCheck((review,)),),
            expert_turns=turns,
            params=(("product", item.name), ("stars", stars), ("title", title), ("text", text if wants_text else None)),
        )
