"""The start rows around the products: what is sold, by whom it is bought, reviewed, wished for and left in carts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import timedelta

from clickgrad.worlds.people import people
from clickgrad.worlds.shop import words
from clickgrad.worlds.shop.rows import (
    Address,
    CartCoupon,
    CartItem,
    Category,
    Customer,
    Product,
    Promotion,
    Review,
    WishItem,
)
from clickgrad.worlds.site import NOW

CUSTOMERS = 300
FEATURED_EVERY = 80  # one product in so many
DISCONTINUED_EACH = 2  # products of every category that are no longer sold
REVIEWED_OFTEN = 22  # products with more reviews than fit beside them
PENDING, REJECTED = 40, 20  # reviews
WITH_COUPON = 40  # of the last customers
WITH_WISHES = 160  # of the first customers


def products(rng: random.Random, categories: Sequence[Category]) -> Iterator[Product]:
    next_id = 1
    for category in categories:
        for product in _range_of(rng, category, next_id):
            yield product
            next_id += 1
    for category in categories:
        nouns = rng.sample(tuple(words.CATALOGUE[category.name].items()), DISCONTINUED_EACH)
        for noun, materials in nouns:
            name = f"Vintage {rng.choice(materials)} {noun}"
            yield _product(rng, next_id, category, name, rng.choice(words.BRANDS), rng.randrange(400, 9000, 50), False)
            next_id += 1


def _range_of(rng: random.Random, category: Category, first_id: int) -> Iterator[Product]:
    names: list[str] = []
    for noun, materials in words.CATALOGUE[category.name].items():
        # "Small Steel Pan, Large" would be a riddle.
        adjectives = words.ADJECTIVES[2:] if noun in words.SIZED else words.ADJECTIVES
        names += [
            f"{adjective} {material} {noun}"
            for adjective, material in zip(rng.sample(adjectives, 3), materials, strict=True)
        ]
    rng.shuffle(names)
    # No two products of a category cost the same, so that "the cheapest" is one; each brand fills one page.
    prices = rng.sample(range(400, 9000, 50), len(names))
    brands = rng.sample(words.BRANDS, 5) * (len(names) // 5)
    for id_, (name, price, brand) in enumerate(zip(names, prices, brands, strict=True), first_id):
        yield _product(rng, id_, category, name, brand, price, True)


def _product(
    rng: random.Random, id_: int, category: Category, name: str, brand: str, price: int, enabled: bool
) -> Product:
    featured = enabled and id_ % FEATURED_EVERY == 1
    return Product(
        id=id_,
        category_id=category.id,
        name=name,
        brand=brand,
        price_cents=price,
        color=rng.choice(words.COLORS),
        stock=0 if not enabled or (rng.random() < 0.05 and not featured) else rng.randint(10, 60),
        sku=f"{category.name[:2].upper()}-{id_:03d}",
        description=rng.choice(words.DESCRIPTIONS),
        featured=featured,
        sizes=words.SIZES if name.split()[-1] in words.SIZED else "",
        enabled=enabled,
        created=(NOW.date() - timedelta(days=rng.randint(440, 900))).isoformat(),
    )


def customers(rng: random.Random, seed: int) -> Iterator[Customer]:
    for id_, person in enumerate(people(seed)[:CUSTOMERS], 1):
        yield Customer(
            id=id_,
            name=person.name,
            email=person.email,
            password=person.password,
            phone=f"555-{rng.randint(1000, 9999)}",
            customer_group=rng.choices(("General", "Wholesale", "VIP"), (8, 1, 1))[0],
            created=(NOW.date() - timedelta(days=rng.randint(435, 1200))).isoformat(),
            newsletter=rng.random() < 0.4,
        )


def addresses(rng: random.Random, customers: Sequence[Customer]) -> Iterator[Address]:
    """One to three of each customer, the first one the default. The default user has three."""
    next_id = 1
    for customer in customers:
        for index, label in enumerate(words.ADDRESS_LABELS[: 3 if customer.id == 1 else rng.choice((1, 2, 2, 3))]):
            street, city = f"{rng.randint(1, 99)} {rng.choice(words.STREETS)}", rng.choice(words.CITIES)
            yield Address(next_id, customer.id, label, street, city, str(rng.randint(10000, 99999)), index == 0)
            next_id += 1


def reviews(rng: random.Random, products: Sequence[Product], customers: Sequence[Customer]) -> tuple[Review, ...]:
    sold = [product for product in products if product.enabled]
    often = {product.id for product in rng.sample(sold, REVIEWED_OFTEN)}
    found: list[Review] = []
    for product in sold:
        leaning = rng.choice((2, 3, 4, 4, 5, 5))
        many = rng.randint(7, 12) if product.id in often else rng.choice((0, 1, 1, 2, 3))
        said: set[str] = set()
        for customer in rng.sample(customers[1:], many):
            stars = max(1, min(5, leaning + rng.choice((-2, -1, 0, 0, 1) if product.id in often else (-1, 0, 0, 1))))
            titles, notices, verdicts = words.OPINIONS[stars]
            # What is noticed is said once about a product, so that who said it can be asked.
            notice = rng.choice([text for text in notices if text not in said] or [""])
            said.add(notice)
            text = f"{notice} {rng.choice(verdicts)}" if rng.random() < 0.4 else notice
            created = NOW.date() - timedelta(days=rng.randint(1, 400))
            nickname = customer.name.split()[0]
            id_, title = len(found) + 1, rng.choice(titles)
            found.append(
                Review(id_, product.id, customer.id, nickname, stars, title, text.strip(), created.isoformat(), "")
            )
    statuses = ["Pending"] * PENDING + ["Rejected"] * REJECTED
    statuses += ["Approved"] * (len(found) - len(statuses))
    rng.shuffle(statuses)
    return tuple(_with_status(review, status) for review, status in zip(found, statuses, strict=True))


def _with_status(review: Review, status: str) -> Review:
    created = review.created
    if status == "Pending":  # nobody has looked yet: written in the last days
        created = (NOW.date() - timedelta(days=review.id % 12 + 1)).isoformat()
    return Review(
        review.id, review.product_id, review.customer_id, review.nickname, review.stars, review.title, review.text,
        created, status,
    )  # fmt: skip


def cart_items(rng: random.Random, products: Sequence[Product], customers: Sequence[Customer]) -> Iterator[CartItem]:
    """Everybody but the default user has left one to three things in the cart."""
    in_stock = [product for product in products if product.stock]
    next_id = 1
    for customer in customers[1:]:
        for product in rng.sample(in_stock, rng.choice((1, 1, 2, 3))):
            size = rng.choice(product.size_options) if product.sizes else ""
            yield CartItem(next_id, customer.id, product.id, size, rng.randint(1, 3))
            next_id += 1


def wish_items(rng: random.Random, products: Sequence[Product], customers: Sequence[Customer]) -> Iterator[WishItem]:
    in_stock = [product for product in products if product.stock]
    next_id = 1
    for customer in customers[:WITH_WISHES]:
        for product in rng.sample(in_stock, 4 if customer.id == 1 else rng.randint(2, 4)):
            yield WishItem(next_id, customer.id, product.id)
            next_id += 1


def cart_coupons(
    rng: random.Random, promotions: Sequence[Promotion], customers: Sequence[Customer]
) -> Iterator[CartCoupon]:
    valid = [promotion for promotion in promotions if promotion.valid_on(NOW.date().isoformat())]
    for id_, customer in enumerate(customers[-WITH_COUPON:], 1):
        yield CartCoupon(id_, customer.id, rng.choice(valid).id)
