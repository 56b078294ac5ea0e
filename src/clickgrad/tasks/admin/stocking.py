"""Templates about products: facts of one or several, a change of one, the same change of several, a new one."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle

from clickgrad.tasks.admin.drafts import (
    answers,
    changes,
    chunks,
    draft,
    in_turn,
    insert,
    listed,
    names_all,
    several,
    update,
)
from clickgrad.tasks.admin.records import Records, best, records
from clickgrad.tasks.templates import Draft
from clickgrad.types import Scalar
from clickgrad.worlds.admin.grid import PAGE_SIZE
from clickgrad.worlds.pages import money
from clickgrad.worlds.shop.rows import Product
from clickgrad.worlds.shop.words import BRANDS, CATALOGUE, COLORS

LOW_STOCK = 12  # the limit that the settings hold at the start
DESCRIPTIONS = (
    "Now with a longer warranty.",
    "Made of better material than last year.",
    "A favorite of our customers.",
    "Safe for children of all ages.",
    "Sold in a gift box.",
    "Light enough to carry anywhere.",
    "Designed in Portland.",
    "Ready to use without any tools.",
)
NEW_NAMES = ("Garden Party Set", "Rainy Day Box", "Weekend Kit", "Reading Corner Set", "Picnic Bundle", "Tea Time Set")


def _searchable(book: Records, rng: random.Random) -> list[Product]:
    """Enabled, and alone on the list when searched for by name; in random order."""
    items = [item for item in book.data.products if item.enabled and book.products_found(item.name) == [item]]
    return rng.sample(items, len(items))


def stock_watch(seed: int) -> Iterator[Draft]:
    """Short: a product's line in the list. Middle: low stock by category, a brand. Long: several products."""
    book, rng = records(seed), random.Random(f"admin.stock_watch {seed}")
    items = _searchable(book, rng)
    low = in_turn(_low_stock(book, rng), _brand_counts(book, rng))
    return in_turn(_lines(items[:70]), low, in_turn(_most_stock(items[70:140]), _colors(items[140:])))


def _lines(items: Sequence[Product]) -> Iterator[Draft]:
    questions = {
        "stock": "How many of {} are in stock?",
        "price": "What is the price of the product with the SKU {}?",
        "brand": "What is the brand of {}?",
    }
    for index, (item, fact) in enumerate(zip(items, cycle(questions))):
        right = {"stock": str(item.stock), "price": money(item.price_cents), "brand": item.brand}[fact]
        key = item.sku if fact == "price" else item.name
        start, turns = ("/", 3) if index % 2 else ("/products", 2)
        yield draft(questions[fact].format(key), start, turns, answers(right), products=key, fact=fact)


def _low_stock(book: Records, rng: random.Random) -> Iterator[Draft]:
    categories = rng.sample(book.data.categories, len(book.data.categories))
    cases = [(category, fact) for fact in ("count", "names") for category in categories]
    for category, fact in cases:
        own = sorted(
            item.name
            for item in book.data.products
            if item.category_id == category.id and item.enabled and item.stock <= LOW_STOCK
        )
        if 1 <= len(own) <= PAGE_SIZE:
            yield draft(
                f"{'How many' if fact == 'count' else 'Which'} {category.name} products are low on stock?",
                "/" if fact == "count" else "/products",
                5 if fact == "count" else 4,
                answers(str(len(own))) if fact == "count" else names_all(*own),
                category=category.name,
                show="Low stock",
                brand=None,
                fact=fact,
            )


def _brand_counts(book: Records, rng: random.Random) -> Iterator[Draft]:
    pairs = [(brand, category) for brand in BRANDS for category in book.data.categories]
    for brand, category in rng.sample(pairs, len(pairs)):
        own = [
            item
            for item in book.products_found(brand)
            if item.category_id == category.id and item.enabled and item.brand == brand
        ]
        hits = [item for item in book.products_found(brand) if item.category_id == category.id and item.enabled]
        if own and own == hits:
            dearest = max(own, key=lambda item: item.price_cents)
            yield draft(
                f"What is the most expensive enabled {category.name} product of the brand {brand}?",
                "/",
                6,
                answers(dearest.name),
                category=category.name,
                show="Enabled",
                brand=brand,
                fact="dearest",
            )


def _most_stock(items: Sequence[Product]) -> Iterator[Draft]:
    stock = {item.name: item.stock for item in items}
    for some in chunks(items, 6):
        names = [item.name for item in some]
        first = best(names, stock.__getitem__)
        if first:
            intent = f"Which of these products has the highest stock: {listed(names, 'or')}?"
            yield draft(intent, "/", 2 + len(names), answers(first), products=several(names), fact="most")


def _colors(items: Sequence[Product]) -> Iterator[Draft]:
    for index, chunk in enumerate(chunks(items, 4)):
        some = chunk[: 3 + index % 2]
        names = [item.name for item in some]
        intent = f"What are the colors of {listed(names)}, in this order?"
        colors = [item.color for item in some]
        checks = answers(", ".join(colors), listed(colors), " ".join(colors))
        yield draft(intent, "/", 1 + 3 * len(names), checks, products=several(names), fact="color")


def update_product(seed: int) -> Iterator[Draft]:
    """Short: one field, on the form. Middle: one or two fields, from the list or home. Long: three fields or more."""
    book, rng = records(seed), random.Random(f"admin.update_product {seed}")
    # (start page, how many fields, turns)
    ladder = (("form", 1, 3), ("list", 2, 5), ("home", 3, 8), ("form", 1, 3), ("home", 1, 6), ("home", 4, 9))
    fields = cycle(("Price", "Stock", "Color", "Description"))
    for item, (start, many, turns) in zip(_searchable(book, rng), cycle(ladder)):
        wanted = dict(_new_value(rng, item, next(fields)) for _ in range(many))
        next(fields)  # so that every rung meets every field
        asked = listed([f'the {name.lower()} to "{text}"' for name, (text, _, _) in wanted.items()])
        paths = {"form": f"/products/{item.id}", "list": f"/products?q={item.sku}", "home": "/"}
        yield draft(
            f"Change {asked} for {item.name}." if many == 1 else f"For {item.name}, change {asked}.",
            paths[start],
            turns,
            changes(update("products", item.id, **{column: value for _, column, value in wanted.values()})),
            product=item.name,
            fields=several(wanted),
            texts=several(text for text, _, _ in wanted.values()),
        )


def _new_value(rng: random.Random, item: Product, field: str) -> tuple[str, tuple[str, str, Scalar]]:
    """Field -> (what to type, column, value); never what is there already."""
    if field == "Price":
        cents = rng.choice([cents for cents in range(495, 9000, 500) if cents != item.price_cents])
        return field, (f"{cents / 100:.2f}", "price_cents", cents)
    if field == "Stock":
        stock = rng.randrange(65, 200, 5)
        return field, (str(stock), "stock", stock)
    if field == "Color":
        color = rng.choice([color for color in COLORS if color != item.color])
        return field, (color, "color", color)
    text = rng.choice([text for text in DESCRIPTIONS if text != item.description])
    return field, (text, "description", text)


def update_products(seed: int) -> Iterator[Draft]:
    """All products of a kind, or two or three named ones. Always long."""
    book, rng = records(seed), random.Random(f"admin.update_products {seed}")
    nouns = [noun for category in CATALOGUE.values() for noun in category]
    rng.shuffle(nouns)
    items = _searchable(book, rng)
    return in_turn(_kinds(book, rng, nouns), _named(rng, items))


def _kinds(book: Records, rng: random.Random, nouns: Sequence[str]) -> Iterator[Draft]:
    for index, (noun, change) in enumerate(zip(nouns, cycle(("stock", "disable", "feature")))):
        hits = book.products_found(noun)
        if len(hits) != 3 or not all(item.enabled and not item.featured for item in hits):
            continue
        stock = rng.randrange(65, 200, 5)
        asked = {
            "stock": f"Set the stock of every {noun} to {stock}.",
            "disable": f"Disable every {noun} in the catalog.",
            "feature": f"Make every {noun} a featured product.",
        }[change]
        columns = {"stock": ("stock", stock), "disable": ("enabled", 0), "feature": ("featured", 1)}
        values = dict([columns[change]])
        at_home = index % 2 == 0
        yield draft(
            asked,
            "/" if at_home else "/products",
            13 + at_home,  # search; open, change, save each; back twice; exit
            changes(*(update("products", item.id, **values) for item in hits)),
            search=noun,
            products=several(item.name for item in hits),
            change=change,
            texts=str(stock),
        )


def _named(rng: random.Random, items: Sequence[Product]) -> Iterator[Draft]:
    for index, chunk in enumerate(chunks(items, 3)):
        change, some = ("price", "stock")[index % 2], chunk[: 2 + index % 3 // 2]
        texts, rows = [], []
        for item in some:
            text, column, value = _new_value(rng, item, change.capitalize())[1]
            texts.append(text)
            rows.append(update("products", item.id, **{column: value}))
        asked = listed([f"of {item.name} to {text}" for item, text in zip(some, texts, strict=True)])
        yield draft(
            f"Set the {change} {asked}.",
            "/",
            1 + 5 * len(some),  # to the list, search, open, change, save each; exit
            changes(*rows),
            search=None,
            products=several(item.name for item in some),
            change=change,
            texts=several(texts),
        )


def new_product(seed: int) -> Iterator[Draft]:
    book, rng = records(seed), random.Random(f"admin.new_product {seed}")
    categories = book.data.categories
    for index in range(24):
        category, brand, color = rng.choice(categories), rng.choice(BRANDS), rng.choice(COLORS)
        name = f"{brand} {NEW_NAMES[index % len(NEW_NAMES)]}" + (" Plus" if index >= len(NEW_NAMES) * 2 else "")
        if any(item.name == name for item in book.data.products):
            continue
        sku, cents, stock = f"NEW-{100 + index}", rng.randrange(995, 9000, 500), rng.randrange(5, 100, 5)
        description = DESCRIPTIONS[index % len(DESCRIPTIONS)]
        values: dict[str, Scalar] = {"name": name, "brand": brand, "sku": sku, "stock": stock, "color": color}
        at_home = index % 2 == 0
        yield draft(
            f"Add the {category.name} product {name}: brand {brand}, SKU {sku}, price {cents / 100:.2f},"
            f' stock {stock}, color {color}, description "{description}"',
            "/" if at_home else "/products/new",
            10 + 2 * at_home,
            changes(
                insert(
                    "products",
                    **values,
                    category_id=category.id,
                    price_cents=cents,
                    description=description,
                    enabled=1,
                )
            ),
            **values,
            category=category.name,
            price=f"{cents / 100:.2f}",
            description=description,
        )
