"""What lies in the cart and on the wish list: put in, changed, moved, taken out."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import cycle, islice

from clickgrad.tasks.shop.records import (
    EMMA,
    Line,
    Records,
    deleted,
    in_turn,
    inserted,
    listed,
    put_in_cart,
    records,
    shuffled,
    updated,
)
from clickgrad.tasks.templates import Draft
from clickgrad.types import RowChange, StateCheck
from clickgrad.worlds.shop.data import CartItem

# --- the cart -------------------------------------------------------------------------------------------------------


def cart_edit(seed: int) -> Iterator[Draft]:
    """Each instance is another customer's cart."""
    shop, rng = records(seed), random.Random(f"shop.cart_edit {seed}")
    customers = shuffled(rng, (id_ for id_ in shop.cart_of if id_ not in shop.with_coupon))
    several = [id_ for id_ in customers if len(shop.cart_of[id_]) > 1]
    most = iter([id_ for id_ in several if len(shop.cart_of[id_]) > 2])
    two = iter([id_ for id_ in several if len(shop.cart_of[id_]) == 2])
    single = iter([id_ for id_ in customers if id_ not in several])
    coupled = iter(shuffled(rng, shop.with_coupon))
    return in_turn(
        _cart_drafts(shop, rng, single, "quantity", cycle(("/cart", "/"))),
        _cart_drafts(shop, rng, most, "change two, remove one, coupon", cycle(("/",))),
        _cart_drafts(shop, rng, single, "coupon", cycle(("/", "/cart"))),
        _cart_drafts(shop, rng, two, "change and remove", cycle(("/", "/cart"))),
        _cart_drafts(shop, rng, most, "change three, coupon", cycle(("/",))),
        _uncoupled(shop, coupled),
        _cart_drafts(shop, rng, two, "remove", cycle(("/cart", "/"))),
        _cart_drafts(shop, rng, two, "change two, coupon", cycle(("/",))),
    )


_CHANGED = {
    "change three": 3,
    "change two": 2,
    "change and": 1,
    "quantity": 1,
}  # how many quantities, by a kind's start


def _cart_drafts(
    shop: Records, rng: random.Random, customers: Iterator[int], kind: str, paths: Iterator[str]
) -> Iterator[Draft]:
    for id_ in customers:
        cart = shuffled(rng, shop.cart_of[id_])
        changed = cart[: _CHANGED.get(" ".join(kind.replace(",", "").split()[:2]), 0)]
        removed = cart[len(changed) : len(changed) + 1] if "remove" in kind else []
        code = rng.choice(shop.coupons) if "coupon" in kind else None
        new = {item.id: rng.choice([n for n in range(1, 10) if n != item.quantity]) for item in changed}
        rows = [updated("cart_items", item.id, quantity=new[item.id]) for item in changed]
        rows += [deleted("cart_items", item.id) for item in removed]
        rows += [inserted("cart_coupons", customer_id=id_, promotion_id=code.id)] if code else []
        wishes = [f"set {_name(shop, item)} to {new[item.id]}" for item in changed]
        wishes += [f"remove {_name(shop, item)}" for item in removed]
        wishes += [f"apply the coupon {code.code}"] if code else []
        path = next(paths)
        yield Draft(
            intent=f"In my cart, {listed(wishes)}.",
            start_path=path,
            checks=(StateCheck(tuple(rows)),),
            expert_turns=(path == "/") + 2 * len(changed) + len(removed) + 2 * bool(code) + 1,
            params=(
                *((f"set{n}", f"{_name(shop, item)}={new[item.id]}") for n, item in enumerate(changed)),
                ("remove", _name(shop, removed[0]) if removed else None),
                ("coupon", code.code if code else None),
            ),
            user=shop.shopper(id_),
        )


def _uncoupled(shop: Records, customers: Iterator[int]) -> Iterator[Draft]:
    """Take the coupon out; or, every other time, put another one in its place."""
    for id_, path in zip(customers, cycle(("/cart", "/")), strict=False):
        yield Draft(
            intent="Remove the coupon from my cart.",
            start_path=path,
            checks=(StateCheck((deleted("cart_coupons", shop.with_coupon[id_].id),)),),
            expert_turns=(path == "/") + 2,
            params=(("remove", None), ("coupon", None), ("no_coupon", True)),
            user=shop.shopper(id_),
        )


def _name(shop: Records, item: CartItem) -> str:
    return shop.products[item.product_id].name


# --- several products -----------------------------------------------------------------------------------------------


def fill_several(seed: int) -> Iterator[Draft]:
    """Search, open, [size,] [quantity,] add: for each product."""
    shop, rng = records(seed), random.Random(f"shop.fill_several {seed}")
    plain, sized = iter(shop.ladder_products(rng, sized=False)), iter(shop.ladder_products(rng, sized=True))
    # how many products, how many of them in a size, whether more than one piece of each, and where to
    ladder = cycle(
        (
            (4, 0, False, "cart"), (5, 0, False, "wish list"), (3, 0, True, "cart"), (6, 0, False, "cart"),
            (4, 1, False, "cart"), (3, 0, False, "wish list"), (4, 0, True, "cart"), (3, 1, True, "cart"),
        )
    )  # fmt: skip
    wished = {wish.product_id for wish in shop.wishes_of[EMMA]}
    for many, in_size, pieces, target in ladder:
        chosen = [*islice(sized, in_size), *islice(plain, many - in_size)]
        if len(chosen) < many:
            return
        if target == "wish list" and any(item.id in wished for item in chosen):
            continue
        rng.shuffle(chosen)
        lines = [
            Line(item, rng.randint(2, 6) if pieces else 1, rng.choice(item.size_options) if item.sizes else "")
            for item in chosen
        ]
        yield _several(shop, lines, target)


def _several(shop: Records, lines: list[Line], target: str) -> Draft:
    if target == "cart":
        rows = list(put_in_cart(shop, EMMA, lines))
    else:
        rows = [inserted("wish_items", customer_id=EMMA, product_id=line.product.id) for line in lines]
    wishes = [
        f"{f'{line.quantity} of ' if line.quantity > 1 else ''}{line.product.name}"
        f"{f' in {line.size}' if line.size else ''}"
        for line in lines
    ]
    return Draft(
        intent=f"Add {listed(wishes)} to {'the cart' if target == 'cart' else 'my wish list'}.",
        start_path="/",
        checks=(StateCheck(tuple(rows)),),
        expert_turns=sum(3 + (line.quantity > 1) + bool(line.size) for line in lines) + 1,
        params=(("target", target), *((f"line{n}", _spelled(line)) for n, line in enumerate(lines))),
    )


def _spelled(line: Line) -> str:
    return f"{line.product.name}={line.quantity}={line.size}"


# --- the wish list --------------------------------------------------------------------------------------------------


def wish_list(seed: int) -> Iterator[Draft]:
    shop, rng = records(seed), random.Random(f"shop.wish_list {seed}")
    owners = iter(shuffled(rng, (id_ for id_ in shop.wishes_of if id_ != EMMA)))
    return in_turn(
        _wished(shop, rng),
        _wish_edits(shop, rng, owners, cycle((("move", "/"), ("remove", "/wishlist")))),
        _wish_edits(shop, rng, owners, cycle((("both", "/"), ("both", "/"), ("both", "/wishlist")))),
        _wish_edits(shop, rng, owners, cycle((("remove", "/"), ("move", "/wishlist")))),
        _wish_buys(shop, rng, owners),
    )


def _wished(shop: Records, rng: random.Random) -> Iterator[Draft]:
    wished = {wish.product_id for wish in shop.wishes_of[EMMA]}
    items = [item for item in shop.ladder_products(rng) if item.id not in wished]
    for item, start in zip(items, cycle(("product", "list", "home")), strict=False):
        path, clicks = shop.starts(item)[start]
        yield Draft(
            intent=f"Add {item.name} to my wish list.",
            start_path=path,
            checks=(StateCheck((inserted("wish_items", customer_id=EMMA, product_id=item.id),)),),
            expert_turns=clicks + 2,
            params=(("kind", "add"), ("product", item.name)),
        )


def _wish_edits(
    shop: Records, rng: random.Random, owners: Iterator[int], ladder: Iterator[tuple[str, str]]
) -> Iterator[Draft]:
    for id_ in owners:
        wishes = shuffled(rng, shop.wishes_of[id_])
        movable = [wish for wish in wishes if not shop.products[wish.product_id].sizes]
        if not movable:
            continue
        kind, path = next(ladder)
        mover = movable[0]
        other = next(wish for wish in wishes if wish != mover)
        name, other_name = shop.products[mover.product_id].name, shop.products[other.product_id].name
        moved = (*put_in_cart(shop, id_, [Line(shop.products[mover.product_id], 1)]), deleted("wish_items", mover.id))
        rows: dict[str, tuple[RowChange, ...]] = {
            "move": moved,
            "remove": (deleted("wish_items", mover.id),),
            "both": (*moved, deleted("wish_items", other.id)),
        }
        intents = {
            "move": f"Move {name} from my wish list to the cart.",
            "remove": f"Remove {name} from my wish list.",
            "both": f"On my wish list, remove {other_name} and move {name} to the cart.",
        }
        params = (("kind", kind), ("product", name), ("other", other_name if kind == "both" else None))
        turns = 2 * (path == "/") + (2 if kind == "both" else 1) + 1
        yield Draft(intents[kind], path, (StateCheck(rows[kind]),), turns, params, shop.shopper(id_))


def _wish_buys(shop: Records, rng: random.Random, owners: Iterator[int]) -> Iterator[Draft]:
    """Something with a size must be bought from its own page, and then taken off the list."""
    for id_ in owners:
        sized = [wish for wish in shop.wishes_of[id_] if shop.products[wish.product_id].sizes]
        if not sized:
            continue
        item = shop.products[sized[0].product_id]
        size, quantity = rng.choice(item.size_options), rng.randint(2, 5)
        rows = (*put_in_cart(shop, id_, [Line(item, quantity, size)]), deleted("wish_items", sized[0].id))
        yield Draft(
            intent=f"Put {quantity} of {item.name} from my wish list into the cart, in {size}, "
            "and remove it from the wish list.",
            start_path="/",
            checks=(StateCheck(rows),),
            # Account, Wish List, Choose Size, size, quantity, Add to Cart, Account, Wish List, Remove, exit
            expert_turns=10,
            params=(("kind", "buy"), ("product", item.name), ("size", size), ("quantity", quantity)),
            user=shop.shopper(id_),
        )
