"""What the shop holds at the start, as plain values: the seed decides all of it. Tasks are written from these."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from clickgrad.worlds.shop import words
from clickgrad.worlds.site import NOW

DEFAULT_USER = "emma.lopez@example.com"
SHIPPING_CENTS = {"Standard": 400, "Express": 900, "Next Day": 1500}
PAYMENT_METHODS = ("Credit Card", "Gift Card", "Cash on Delivery")
STATUSES = ("Processing", "Shipped", "Delivered", "Cancelled")

CUSTOMERS = 72
ORDERS = 240
DEFAULT_USER_ORDERS = 12
FIRST_ORDER_ID = 1001
FEATURED_EVERY = 80  # one product in so many


@dataclass(frozen=True, slots=True)
class Category:
    id: int
    name: str
    slug: str


@dataclass(frozen=True, slots=True)
class Product:
    id: int
    category_id: int
    name: str
    brand: str
    price_cents: int
    color: str
    stock: int
    sku: str
    description: str
    featured: bool  # on the home page


@dataclass(frozen=True, slots=True)
class Customer:
    id: int
    name: str
    email: str
    password: str  # in the clear: everybody in this town is made up
    street: str
    city: str


@dataclass(frozen=True, slots=True)
class Review:
    id: int
    product_id: int
    customer_id: int
    nickname: str
    stars: int
    title: str
    text: str
    created: str


@dataclass(frozen=True, slots=True)
class CartItem:
    id: int
    customer_id: int
    product_id: int
    quantity: int


@dataclass(frozen=True, slots=True)
class Order:
    id: int
    customer_id: int
    created: str
    status: str
    shipping_method: str
    payment_method: str
    total_cents: int


@dataclass(frozen=True, slots=True)
class OrderItem:
    id: int
    order_id: int
    product_id: int
    quantity: int
    price_cents: int


@dataclass(frozen=True, slots=True)
class ShopData:
    """One field per table, of the same name; one dataclass field per column."""

    categories: tuple[Category, ...]
    products: tuple[Product, ...]
    customers: tuple[Customer, ...]
    reviews: tuple[Review, ...]
    cart_items: tuple[CartItem, ...]
    orders: tuple[Order, ...]
    order_items: tuple[OrderItem, ...]


@cache
def shop_data(seed: int) -> ShopData:
    rng = random.Random(f"shop {seed}")
    categories = tuple(Category(i, name, name.lower()) for i, name in enumerate(words.CATALOGUE, 1))
    products = tuple(_products(rng, categories))
    customers = tuple(_customers(rng))
    reviews = tuple(_reviews(rng, products, customers))
    cart_items = tuple(_cart_items(rng, products, customers))
    orders, order_items = _orders(rng, products)
    return ShopData(categories, products, customers, reviews, cart_items, orders, order_items)


def _products(rng: random.Random, categories: tuple[Category, ...]) -> Iterator[Product]:
    next_id = 1
    for category in categories:
        names = [
            f"{adjective} {material} {noun}"
            for noun, materials in words.CATALOGUE[category.name].items()
            for adjective, material in zip(rng.sample(words.ADJECTIVES, len(materials)), materials, strict=True)
        ]
        rng.shuffle(names)
        # No two products of a category cost the same, so that "the cheapest" is one; each brand fills one page.
        prices = rng.sample(range(400, 9000, 50), len(names))
        brands = rng.sample(words.BRANDS, 5) * (len(names) // 5)
        for name, price, brand in zip(names, prices, brands, strict=True):
            featured = next_id % FEATURED_EVERY == 1
            yield Product(
                id=next_id,
                category_id=category.id,
                name=name,
                brand=brand,
                price_cents=price,
                color=rng.choice(words.COLORS),
                stock=0 if rng.random() < 0.05 and not featured else rng.randint(10, 60),
                sku=f"{category.name[:2].upper()}-{next_id:03d}",
                description=rng.choice(words.DESCRIPTIONS),
                featured=featured,
            )
            next_id += 1


def _customers(rng: random.Random) -> Iterator[Customer]:
    pairs = [(first, last) for first in words.FIRST_NAMES for last in words.LAST_NAMES]
    default = pairs.pop(0)
    for id_, (first, last) in enumerate([default, *rng.sample(pairs, CUSTOMERS - 1)], 1):
        email = f"{first}.{last}@example.com".lower()
        street = f"{rng.randint(1, 99)} {rng.choice(words.STREETS)}"
        yield Customer(id_, f"{first} {last}", email, f"{first.lower()}{100 + id_}", street, rng.choice(words.CITIES))


def _reviews(rng: random.Random, products: tuple[Product, ...], customers: tuple[Customer, ...]) -> Iterator[Review]:
    next_id = 1
    for product in products:
        leaning = rng.choice((2, 3, 4, 4, 5, 5))
        for customer in rng.sample(customers[1:], rng.choice((0, 1, 2, 2, 3))):
            stars = max(1, min(5, leaning + rng.choice((-1, 0, 0, 1))))
            titles, texts = words.OPINIONS[stars]
            created = NOW.date() - timedelta(days=rng.randint(1, 300))
            nickname = customer.name.split()[0]
            title, text = rng.choice(titles), rng.choice(texts)
            yield Review(next_id, product.id, customer.id, nickname, stars, title, text, created.isoformat())
            next_id += 1


def _cart_items(
    rng: random.Random, products: tuple[Product, ...], customers: tuple[Customer, ...]
) -> Iterator[CartItem]:
    """Everybody but the default user has left one or two things in the cart."""
    in_stock = [product for product in products if product.stock]
    next_id = 1
    for customer in customers[1:]:
        for product in rng.sample(in_stock, rng.choice((1, 1, 2))):
            yield CartItem(next_id, customer.id, product.id, rng.randint(1, 3))
            next_id += 1


def _orders(rng: random.Random, products: tuple[Product, ...]) -> tuple[tuple[Order, ...], tuple[OrderItem, ...]]:
    others = [id_ for id_ in range(2, CUSTOMERS + 1) for _ in range(2)]
    others += rng.choices(range(2, CUSTOMERS + 1), k=ORDERS - DEFAULT_USER_ORDERS - len(others))
    buyers = [1] * DEFAULT_USER_ORDERS + others
    # A squared draw leans to recent days, where orders are still on their way.
    moments = sorted(NOW - timedelta(minutes=1 + int(rng.random() ** 2 * 120 * 24 * 60)) for _ in buyers)
    rng.shuffle(buyers)
    orders: list[Order] = []
    items: list[OrderItem] = []
    for order_id, (buyer, moment) in enumerate(zip(buyers, moments, strict=True), FIRST_ORDER_ID):
        total = 0
        for product in rng.sample(products, rng.choice((1, 1, 2, 3))):
            quantity = rng.randint(1, 3)
            items.append(OrderItem(len(items) + 1, order_id, product.id, quantity, product.price_cents))
            total += quantity * product.price_cents
        shipping, payment = rng.choice(tuple(SHIPPING_CENTS)), rng.choice(PAYMENT_METHODS)
        total += SHIPPING_CENTS[shipping]
        orders.append(Order(order_id, buyer, _stamp(moment), _status(rng, moment), shipping, payment, total))
    return tuple(orders), tuple(items)


def _status(rng: random.Random, placed: datetime) -> str:
    settled = NOW - placed > timedelta(days=21)
    return rng.choice(("Delivered", "Delivered", "Cancelled") if settled else ("Processing", "Shipped", "Shipped"))


def _stamp(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="minutes")
