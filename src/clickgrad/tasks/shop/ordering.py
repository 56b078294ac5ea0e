"""Buying to the end: from a named product, the best of a list or a filled cart to the placed order."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, cycle, islice, product
from typing import NamedTuple

from clickgrad.tasks.shop.finding import SUPERLATIVES, best_of
from clickgrad.tasks.shop.records import EMMA, Line, Purchase, Records, listed, placed, records, shuffled
from clickgrad.tasks.templates import Draft
from clickgrad.types import Scalar, StateCheck
from clickgrad.worlds.shop.data import PAYMENT_METHODS, SHIPPING_CENTS, Address, Product, Promotion
from clickgrad.worlds.shop.listing import SORTS

_Choice = tuple[str, str, Address]  # shipping, payment, address


def _choices(shop: Records, rng: random.Random, customer_id: int) -> Iterator[_Choice]:
    """Endlessly, in random order, one after another as different as can be."""
    ways = list(product(SHIPPING_CENTS, PAYMENT_METHODS, shop.addresses_of[customer_id]))
    return cycle(shuffled(rng, ways))


def form_turns(choice: _Choice) -> int:
    """Settings of the checkout form that differ from what it starts with, then Place Order."""
    shipping, payment, address = choice
    return (shipping != "Standard") + (payment != "Credit Card") + (not address.is_default) + 1


def form_params(choice: _Choice, coupon: Promotion | None = None) -> tuple[tuple[str, Scalar], ...]:
    shipping, payment, address = choice
    code = coupon.code if coupon else None
    return (("shipping", shipping), ("payment", payment), ("address", address.label), ("coupon", code))


def _wishes(choice: _Choice) -> str:
    shipping, payment, address = choice
    return f"{shipping} shipping to my {address.label} address and {payment} payment"


def order_details(seed: int) -> Iterator[Draft]:
    """A customer's own cart, with a coupon, to one of their addresses."""
    shop, rng = records(seed), random.Random(f"shop.order_details {seed}")
    customers = [id_ for id_ in shop.cart_of if id_ not in shop.with_coupon and len(shop.addresses_of[id_]) > 1]
    ways = cycle(shuffled(rng, product(SHIPPING_CENTS, PAYMENT_METHODS)))
    steps = zip(shuffled(rng, customers), cycle((("/", True), ("/", False), ("/cart", True))), ways, strict=False)
    for id_, (path, changes), (shipping, payment) in steps:
        away = rng.choice([address for address in shop.addresses_of[id_] if not address.is_default])
        choice, coupon = (shipping, payment, away), rng.choice(shop.coupons)
        lines = shop.cart_lines(id_)
        first = ""
        if changes:
            lines[0] = lines[0]._replace(quantity=lines[0].quantity + rng.randint(1, 4))
            first = f"Set {lines[0].product.name} in my cart to {lines[0].quantity}, then p"
        bought = Purchase(id_, lines, shipping, payment, away, coupon)
        yield Draft(
            intent=f"{first or 'P'}lace the order in my cart with the coupon {coupon.code}, {_wishes(choice)}.",
            start_path=path,
            checks=(StateCheck(placed(shop, bought)),),
            # [quantity, Update,] code, Apply Coupon, Checkout, the form, exit
            expert_turns=(path == "/") + 2 * changes + 3 + form_turns(choice) + 1,
            params=(
                *form_params(choice, coupon),
                *((("set0", f"{lines[0].product.name}={lines[0].quantity}"),) if changes else ()),
            ),
            user=shop.shopper(id_),
        )


def buy_product(seed: int) -> Iterator[Draft]:
    """One or two named products, some in a size, some with a coupon."""
    shop, rng = records(seed), random.Random(f"shop.buy_product {seed}")
    plain, sized = iter(shop.ladder_products(rng, sized=False)), iter(shop.ladder_products(rng, sized=True))
    # (start, plain products, products in a size, whether more than one piece, whether a coupon)
    ladder = (
        ("product", 0, 1, True, False), ("home", 2, 0, False, True), ("home", 1, 1, True, False),
        ("home", 3, 0, True, False), ("home", 0, 1, True, True), ("home", 2, 0, True, True),
    )  # fmt: skip
    for (start, many, in_size, pieces, with_coupon), choice in zip(
        cycle(ladder), _choices(shop, rng, EMMA), strict=False
    ):
        chosen = [*islice(sized, in_size), *islice(plain, many)]
        if len(chosen) < many + in_size:
            return
        lines = [
            Line(item, rng.randint(2, 5) if pieces else 1, rng.choice(item.size_options) if item.sizes else "")
            for item in chosen
        ]
        coupon = rng.choice(shop.coupons) if with_coupon else None
        yield _purchase(shop, lines, choice, coupon, shop.starts(chosen[0])[start])


def _purchase(
    shop: Records, lines: Sequence[Line], choice: _Choice, coupon: Promotion | None, start: tuple[str, int]
) -> Draft:
    path, clicks = start
    names = [
        f"{f'{line.quantity} of ' if line.quantity > 1 else ''}{line.product.name}"
        f"{f' in {line.size}' if line.size else ''}"
        for line in lines
    ]
    with_coupon = f"the coupon {coupon.code}, " if coupon else ""
    adding = sum((line.quantity > 1) + bool(line.size) + 1 for line in lines)
    return Draft(
        intent=f"Buy {listed(names)} with {with_coupon}{_wishes(choice)}.",
        start_path=path,
        checks=(StateCheck(placed(shop, Purchase(EMMA, lines, *choice, coupon))),),
        # to the first product, to the others, into the cart, [code, Apply Coupon,] Checkout, the form, exit
        expert_turns=clicks + 2 * (len(lines) - 1) + adding + 2 * bool(coupon) + 1 + form_turns(choice) + 1,
        params=(
            *form_params(choice, coupon),
            *((f"line{n}", f"{line.product.name}={line.quantity}={line.size}") for n, line in enumerate(lines)),
        ),
    )


class _Best(NamedTuple):
    """The first of a list: what it is called in an intent, how its list is arranged, and the product."""

    name: str
    category: str
    brand: str
    sort: str
    item: Product

    @property
    def turns(self) -> int:
        """category, [brand,] sort, Apply, product, Add to Cart"""
        return 5 + bool(self.brand)

    @property
    def spelled(self) -> str:
        return f"{self.category}={self.brand}={SORTS[self.sort]}"


def _bests(shop: Records, rng: random.Random, groups: Iterable[tuple[int, str]]) -> Iterator[_Best]:
    for (category_id, brand), which in shuffled(rng, product(groups, SUPERLATIVES)):
        category = shop.categories[category_id]
        own = [item for item in shop.on_sale(category) if brand in ("", item.brand)]
        best = best_of(shop, own, which)
        if best and best.stock and not best.sizes:
            name = f"the {which} {category.name} product" + (f" of the brand {brand}" if brand else "")
            yield _Best(name, category.name, brand, SUPERLATIVES[which], best)


def buy_superlative(seed: int) -> Iterator[Draft]:
    """The first of a brand's products in a category, or the firsts of two whole categories."""
    shop, rng = records(seed), random.Random(f"shop.buy_superlative {seed}")
    of_brand = _bests(shop, rng, sorted({(item.category_id, item.brand) for item in shop.on_sale()}))
    of_all = list(_bests(shop, rng, [(category.id, "") for category in shop.data.categories]))
    pairs = [pair for pair in combinations(of_all, 2) if pair[0].category != pair[1].category]
    for choice, single, pair in zip(_choices(shop, rng, EMMA), of_brand, shuffled(rng, pairs), strict=False):
        yield _bought(shop, [single], choice)
        yield _bought(shop, list(pair), choice)


def _bought(shop: Records, bests: list[_Best], choice: _Choice) -> Draft:
    lines = [Line(best.item, 1) for best in bests]
    return Draft(
        intent=f"Buy {' and '.join(best.name for best in bests)} with {_wishes(choice)}.",
        start_path="/",
        checks=(StateCheck(placed(shop, Purchase(EMMA, lines, *choice))),),
        # each of them, Home between them, Checkout, the form, exit
        expert_turns=sum(best.turns for best in bests) + len(bests) - 1 + 1 + form_turns(choice) + 1,
        params=(*form_params(choice), *((f"best{n}", best.spelled) for n, best in enumerate(bests))),
    )
