"""Templates about customers and what they say: their data, their reviews, the newsletter."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle

from clickgrad.tasks.admin.drafts import (
    answers,
    changes,
    distinct,
    draft,
    in_turn,
    insert,
    listed,
    names_all,
    several,
    update,
)
from clickgrad.tasks.admin.records import Records, records
from clickgrad.tasks.templates import Draft
from clickgrad.types import RowChange
from clickgrad.worlds.admin.customers import GROUPS
from clickgrad.worlds.admin.grid import PAGE_SIZE
from clickgrad.worlds.pages import day
from clickgrad.worlds.shop.rows import Customer, Review, Subscriber

NEW_LAST_NAMES = ("Adams", "Bennett", "Clarke", "Dawson", "Ellis", "Foster")  # nobody has them yet
OFTEN = 5  # reviews from which on a product counts as reviewed often
_AFTER = {"Approve": "Approved", "Reject": "Rejected"}


def _reviews_by_product(book: Records) -> dict[int, list[Review]]:
    """Of products whose name, searched for, finds their reviews and no others."""
    own: dict[int, list[Review]] = {}
    for review in book.data.reviews:
        own.setdefault(review.product_id, []).append(review)
    return {id_: mine for id_, mine in own.items() if book.reviews_found(book.products[id_].name) == mine}


def review_facts(seed: int) -> Iterator[Draft]:
    """Short: how many reviews, of how many stars. Middle: by whom. Long: the titles of all that a customer wrote."""
    book, rng = records(seed), random.Random(f"admin.review_facts {seed}")
    by_product = _reviews_by_product(book)
    by_product = {id_: by_product[id_] for id_ in rng.sample(sorted(by_product), len(by_product))}
    return in_turn(
        _counted_reviews(book, by_product),
        _reviewers(book, by_product),
        _titles(book, rng),
    )


def _counted_reviews(book: Records, by_product: dict[int, list[Review]]) -> Iterator[Draft]:
    """Only products with many reviews: there the answers differ."""
    often = [id_ for id_, reviews in by_product.items() if len(reviews) >= OFTEN]
    for stars in (None, 4, 3, 5, 2, 1):
        for id_ in often:
            number = sum(review.stars == (stars or review.stars) for review in by_product[id_])
            name = book.products[id_].name
            asked = f"reviews with {stars} {'star' if stars == 1 else 'stars'}" if stars else "reviews"
            if number:
                yield draft(
                    f"How many {asked} does {name} have, whatever their status?",
                    "/" if stars is None else "/reviews",
                    3,
                    answers(str(number)),
                    search=name,
                    stars=stars,
                    fact="count",
                )


def _reviewers(book: Records, by_product: dict[int, list[Review]]) -> Iterator[Draft]:
    for index, (id_, reviews) in enumerate(sorted(by_product.items(), key=lambda pair: -len(pair[1]))):
        stars = Counter(review.stars for review in reviews).most_common()[-1][0]
        own = [book.customers[review.customer_id].name for review in reviews if review.stars == stars]
        if len(own) <= PAGE_SIZE:
            noun = "star" if stars == 1 else "stars"
            name = book.products[id_].name
            at_home = index % 3 != 2
            yield draft(
                f"Which customer gave {name} {stars} {noun}?"
                if len(own) == 1
                else f"Which customers gave {name} {stars} {noun}?",
                "/" if at_home else "/reviews",
                3 + at_home,
                names_all(*own),
                search=name,
                stars=stars,
                fact="names",
            )


def _titles(book: Records, rng: random.Random) -> Iterator[Draft]:
    own: dict[int, list[Review]] = {}
    for review in book.data.reviews:
        own.setdefault(review.customer_id, []).append(review)
    writers = [id_ for id_, reviews in own.items() if 3 <= len(reviews) <= 5]
    for id_ in rng.sample(writers, len(writers)):
        name = book.customers[id_].name
        if book.reviews_found(name) == own[id_]:
            titles = [review.title for review in own[id_]]
            yield draft(
                f"What are the titles of all the reviews by {name}?",
                "/",
                2 + 2 * len(titles),  # reviews, search; open and back each, but for the last back; exit
                names_all(*titles),
                search=name,
                stars=None,
                fact="titles",
            )


def moderate_reviews(seed: int) -> Iterator[Draft]:
    """Short: on the review's page. Middle: one, from the list or home. Long: two or three."""
    book, rng = records(seed), random.Random(f"admin.moderate_reviews {seed}")
    by_product = _reviews_by_product(book)
    alone: list[Review] = []  # pending, the only one of its product
    crowds: list[list[Review]] = []
    for id_ in rng.sample(sorted(by_product), len(by_product)):
        pending = [review for review in by_product[id_] if review.status == "Pending"]
        if len(pending) == 1:
            alone += pending
        elif pending:
            crowds.append(pending)
    third = len(alone) // 3
    short = [(review, step) for step in ("Approve", "Reject", "Delete") for review in alone[:third]]
    middle = [(review, step) for step in ("Reject", "Delete", "Approve") for review in alone[third : 2 * third]]
    return in_turn(
        _single(book, short, at_home=False),
        _single(book, middle, at_home=True),
        in_turn(distinct(_groups(book, rng, alone[2 * third :])), _crowds(book, crowds)),
    )


def _single(book: Records, cases: Sequence[tuple[Review, str]], at_home: bool) -> Iterator[Draft]:
    for review, step in cases:
        product = book.products[review.product_id].name
        yield draft(
            f"{step} the pending review of {product}.",
            "/" if at_home else f"/reviews/{review.id}",
            (5 if at_home else 2) + (step == "Delete"),
            changes(_decided(review, step)),
            products=product,
            steps=step,
            all=False,
        )


def _groups(book: Records, rng: random.Random, reviews: Sequence[Review]) -> Iterator[Draft]:
    for index in range(60):
        some = rng.sample(reviews, 2 + index % 2)
        names = [book.products[review.product_id].name for review in some]
        steps = ["Approve"] * (len(some) - 1) + ["Reject"]
        noun = "review" if len(some) == 2 else "reviews"
        yield draft(
            f"Approve the pending {noun} of {listed(names[:-1])} and reject the pending review of {names[-1]}.",
            "/",
            1 + 4 * len(some),
            changes(*(_decided(review, step) for review, step in zip(some, steps, strict=True))),
            products=several(names),
            steps=several(steps),
            all=False,
        )


def _crowds(book: Records, crowds: Sequence[list[Review]]) -> Iterator[Draft]:
    for step in ("Approve", "Reject"):
        for reviews in crowds:
            product = book.products[reviews[0].product_id].name
            yield draft(
                f"{step} all pending reviews of {product}.",
                "/",
                2 + 3 * len(reviews),  # reviews, search; open, decide, back each, but for the last back; exit
                changes(*(_decided(review, step) for review in reviews)),
                products=product,
                steps=step,
                all=True,
            )


def _decided(review: Review, step: str) -> RowChange:
    if step == "Delete":
        return RowChange("reviews", "delete", (("id", review.id),), review.id)
    return update("reviews", review.id, status=_AFTER[step])


def edit_customer(seed: int) -> Iterator[Draft]:
    """Short: one field, on the customer's page. Middle: from the list or home. Long: all fields; two customers."""
    book, rng = records(seed), random.Random(f"admin.edit_customer {seed}")
    names = [customer.name for customer in book.data.customers]
    alone = [
        customer
        for customer in book.data.customers[1:]
        if sum(all(word in name.lower() for word in customer.name.lower().split()) for name in names) == 1
    ]
    customers = iter(rng.sample(alone, len(alone)))
    # (start page, fields, turns)
    ladder = (
        ("page", ("Group",), 3), ("list", ("Phone",), 5), ("home", ("Name", "Phone", "Group"), 8),
        ("page", ("Phone",), 3), ("home", ("Group",), 6), ("two", ("Group",), 11),
    )  # fmt: skip
    for customer, (start, fields, turns) in zip(customers, cycle(ladder)):
        some = [customer, *([next(customers)] if start == "two" else [])]
        values = {field: _new_value(rng, some, field) for field in fields}
        columns = {column: text for text, column in values.values()}
        asked = listed([f'{field.lower()} to "{text}"' for field, (text, _) in values.items()])
        paths = {"page": f"/customers/{customer.id}", "list": "/customers"}
        yield draft(
            f"Change the {asked} for the {'customers' if len(some) > 1 else 'customer'}"
            f" {listed([one.name for one in some])}.",
            paths.get(start, "/"),
            turns,
            changes(*(update("customers", one.id, **columns) for one in some)),
            customers=several(one.name for one in some),
            fields=several(values),
            texts=several(text for text, _ in values.values()),
        )


def _new_value(rng: random.Random, some: Sequence[Customer], field: str) -> tuple[str, str]:
    """What to type, and its column; never what is there already."""
    if field == "Phone":
        return f"555-{rng.randint(100, 999)}-{rng.randint(10, 99)}", "phone"
    if field == "Group":
        left = [group for group in GROUPS if all(group != one.customer_group for one in some)]
        return rng.choice(left), "customer_group"
    return f"{some[0].name.split()[0]} {rng.choice(NEW_LAST_NAMES)}", "name"


def newsletter(seed: int) -> Iterator[Draft]:
    """Add somebody to the newsletter, remove somebody, or say since when somebody gets it."""
    book, rng = records(seed), random.Random(f"admin.newsletter {seed}")
    emails = {subscriber.email for subscriber in book.data.subscribers}
    strangers = [customer for customer in book.data.customers if customer.email not in emails]
    subscribers = rng.sample(book.data.subscribers, len(book.data.subscribers))
    alone = [one for one in subscribers if sum(one.email in email for email in emails) == 1]
    return in_turn(_since(alone[:20]), _added(rng.sample(strangers, 20)), _removed(alone[20:]))


def _since(subscribers: Sequence[Subscriber]) -> Iterator[Draft]:
    for index, one in enumerate(subscribers):
        intent = f"Since what date does {one.email} get the newsletter?"
        start, turns = ("/newsletter", 2) if index % 2 else ("/", 4)
        yield draft(intent, start, turns, answers(day(one.created)), email=one.email, step="since")


def _added(customers: Sequence[Customer]) -> Iterator[Draft]:
    for index, one in enumerate(customers):
        start, turns = ("/newsletter", 3) if index % 2 else ("/", 5)
        rows = changes(insert("subscribers", email=one.email))
        yield draft(f"Add {one.email} to the newsletter.", start, turns, rows, email=one.email, step="add")


def _removed(subscribers: Sequence[Subscriber]) -> Iterator[Draft]:
    for index, one in enumerate(subscribers):
        start, turns = ("/newsletter", 4) if index % 2 else ("/", 6)
        rows = changes(RowChange("subscribers", "delete", (("email", one.email),), one.id))
        yield draft(f"Remove {one.email} from the newsletter.", start, turns, rows, email=one.email, step="remove")
