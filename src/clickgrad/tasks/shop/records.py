"""What drafts are written from: the start data as the pages show it, and the rows that shopping leaves behind."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, groupby
from typing import NamedTuple, TypeVar

from clickgrad.tasks.templates import Draft
from clickgrad.types import RowChange, Scalar
from clickgrad.worlds.shop.data import (
    SHIPPING_CENTS,
    Address,
    CartItem,
    Category,
    Customer,
    Order,
    OrderItem,
    Product,
    Promotion,
    Review,
    ShopData,
    WishItem,
    shop_data,
)
from clickgrad.worlds.shop.listing import PAGE_SIZE
from clickgrad.worlds.site import NOW

EMMA = 1  # the default user's id
_Row = TypeVar("_Row")


class Line(NamedTuple):
    """Some pieces of a product, as a cart or an order holds them."""

    product: Product
    quantity: int
    size: str = ""


class Records:
    """Everything by what it belongs to, in the order in which the shop lists it."""

    def __init__(self, data: ShopData) -> None:
        self.data = data
        self.products: dict[int, Product] = {item.id: item for item in data.products}
        self.customers: dict[int, Customer] = {customer.id: customer for customer in data.customers}
        self.categories: dict[int, Category] = {category.id: category for category in data.categories}
        approved = [review for review in data.reviews if review.status == "Approved"]
        approved.sort(key=lambda review: (review.created, review.id), reverse=True)
        self.reviews_of: dict[int, list[Review]] = _group(approved, "product_id")
        newest_first = sorted(data.orders, key=lambda order: (order.created, order.id), reverse=True)
        self.orders_of: dict[int, list[Order]] = _group(newest_first, "customer_id")
        self.items_of: dict[int, list[OrderItem]] = _group(data.order_items, "order_id")
        self.cart_of: dict[int, list[CartItem]] = _group(data.cart_items, "customer_id")
        self.wishes_of: dict[int, list[WishItem]] = _group(data.wish_items, "customer_id")
        self.addresses_of: dict[int, list[Address]] = _group(data.addresses, "customer_id")
        today = NOW.date().isoformat()
        self.coupons: list[Promotion] = [coupon for coupon in data.promotions if coupon.valid_on(today)]
        self.with_coupon = {coupon.customer_id: coupon for coupon in data.cart_coupons}

    def on_sale(self, category: Category | None = None) -> list[Product]:
        """What the shop lists, by name."""
        items = [item for item in self.data.products if item.enabled]
        return sorted((item for item in items if category in (None, self.categories[item.category_id])), key=_name)

    def list_path(self, item: Product) -> str:
        """The page of its category's list on which the product stands."""
        category = self.categories[item.category_id]
        place = self.on_sale(category).index(item)
        return f"/category/{category.slug}?page={place // PAGE_SIZE + 1}"

    def ladder_products(self, rng: random.Random, sized: bool | None = None) -> list[Product]:
        """In stock, in random order. Featured ones are a click from home, which would make some tasks too short."""
        items = [item for item in self.data.products if item.stock and not item.featured]
        items = [item for item in items if sized in (None, bool(item.sizes))]
        return rng.sample(items, k=len(items))

    def starts(self, item: Product) -> dict[str, tuple[str, int]]:
        """Where a task about a product may start, and how many turns it takes from there to the product's page."""
        return {"product": (f"/product/{item.id}", 0), "list": (self.list_path(item), 1), "home": ("/", 2)}

    def rating(self, item: Product) -> float | None:
        stars = [review.stars for review in self.reviews_of.get(item.id, [])]
        return sum(stars) / len(stars) if stars else None

    def shopper(self, customer_id: int) -> str:
        return self.customers[customer_id].email

    def order_page(self, order: Order) -> int:
        """How often Next must be clicked in the list of orders until this one is shown."""
        return self.orders_of[order.customer_id].index(order) // PAGE_SIZE

    def lines_of(self, order: Order) -> list[Line]:
        return [Line(self.products[item.product_id], item.quantity, item.size) for item in self.items_of[order.id]]

    def cart_lines(self, customer_id: int) -> list[Line]:
        cart = self.cart_of.get(customer_id, [])
        return [Line(self.products[item.product_id], item.quantity, item.size) for item in cart]

    def default_address(self, customer_id: int) -> Address:
        return next(address for address in self.addresses_of[customer_id] if address.is_default)


@cache
def records(seed: int) -> Records:
    return Records(shop_data(seed))


def _group(rows: Iterable[_Row], column: str) -> dict[int, list[_Row]]:
    def key(row: _Row) -> int:
        return int(getattr(row, column))

    return {owner: list(own) for owner, own in groupby(sorted(rows, key=key), key)}


def _name(item: Product) -> str:
    return item.name


def shuffled(rng: random.Random, things: Iterable[_Row]) -> list[_Row]:
    found = list(things)
    return rng.sample(found, k=len(found))


def in_turn(*kinds: Iterator[Draft]) -> Iterator[Draft]:
    """One of each kind and round again, as long as there are any; never the same one twice."""
    seen: set[tuple[str, str, str]] = set()
    left = list(kinds)
    while left:
        for kind in tuple(left):
            draft = next(kind, None)
            if draft is None:
                left.remove(kind)
            elif (key := (draft.intent, draft.start_path, draft.user)) not in seen:
                seen.add(key)
                yield draft


def listed(parts: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


# --- rows -----------------------------------------------------------------------------------------------------------


def inserted(table: str, **values: Scalar) -> RowChange:
    return RowChange(table, "insert", tuple(values.items()))


def updated(table: str, key: int, **values: Scalar) -> RowChange:
    return RowChange(table, "update", tuple(values.items()), key=key)


def deleted(table: str, key: int) -> RowChange:
    return RowChange(table, "delete", (("id", key),), key=key)


def put_in_cart(shop: Records, customer_id: int, lines: Iterable[Line]) -> Iterator[RowChange]:
    """What is already there in the same size grows; the rest is new."""
    held = {(item.product_id, item.size): item for item in shop.cart_of.get(customer_id, [])}
    for line in lines:
        own = held.get((line.product.id, line.size))
        if own:
            yield updated("cart_items", own.id, quantity=own.quantity + line.quantity)
        else:
            owner, product_id = customer_id, line.product.id
            yield inserted(
                "cart_items", customer_id=owner, product_id=product_id, size=line.size, quantity=line.quantity
            )


class Purchase(NamedTuple):
    customer_id: int
    lines: Sequence[Line]  # all that the cart holds when the order is placed
    shipping: str
    payment: str
    address: Address
    coupon: Promotion | None = None


def placed(shop: Records, bought: Purchase) -> tuple[RowChange, ...]:
    """The rows an order leaves, with the cart emptied and the stock taken."""
    goods = sum(line.quantity * line.product.price_cents for line in bought.lines)
    shipping_cents = SHIPPING_CENTS[bought.shipping]
    discount = bought.coupon.discount_cents(goods, shipping_cents) if bought.coupon else 0
    order_id = shop.data.orders[-1].id + 1
    order = inserted(
        "orders",
        id=order_id,
        customer_id=bought.customer_id,
        status="Processing",
        shipping_method=bought.shipping,
        payment_method=bought.payment,
        address=bought.address.line,
        coupon=bought.coupon.code if bought.coupon else "",
        discount_cents=discount,
        total_cents=goods + shipping_cents - discount,
    )
    items = [
        inserted(
            "order_items",
            order_id=order_id,
            product_id=line.product.id,
            size=line.size,
            quantity=line.quantity,
            price_cents=line.product.price_cents,
        )
        for line in bought.lines
    ]
    taken: dict[int, int] = {}
    for line in bought.lines:
        taken[line.product.id] = taken.get(line.product.id, line.product.stock) - line.quantity
    stock = [updated("products", product_id, stock=left) for product_id, left in taken.items()]
    emptied = [deleted("cart_items", item.id) for item in shop.cart_of.get(bought.customer_id, [])]
    return tuple(chain((order,), items, stock, emptied))
