"""Templates about lists: one set up as asked, and searches for what is not there or cannot be done."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import cycle

from clickgrad.tasks.admin.drafts import UNCHANGED, draft, ends_on, in_turn, several
from clickgrad.tasks.admin.records import Records, records
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, Check
from clickgrad.worlds.admin import customers, moderation, orders, products
from clickgrad.worlds.shop.content import CARRIERS
from clickgrad.worlds.shop.words import ADJECTIVES, CATALOGUE

NOT_POSSIBLE: tuple[Check, ...] = (AnswerCheck(("N/A",)), UNCHANGED)
SEARCH = "Search"  # the name of every list's search box
_ORDER_SORTS = {
    "oldest": "the oldest first",
    "total_desc": "the highest total first",
    "total_asc": "the lowest total first",
}


def open_grid(seed: int) -> Iterator[Draft]:
    """A list narrowed and sorted as asked. Each kind deals its own combinations; starts alternate."""
    book, rng = records(seed), random.Random(f"admin.open_grid {seed}")
    short = in_turn(_searches(book, rng), _review_lists(rng), _customer_lists(rng), _status_lists(rng))
    return in_turn(short, _order_lists(book, rng), _product_lists(book, rng), _period_lists(book, rng))


def _list_draft(intent: str, section: str, path: str, at_home: bool, query: dict[str, str], **fields: str) -> Draft:
    """`query` is where it must end; `fields` are what is set on the way, by label."""
    named = several(name.replace("_", " ") for name in fields)
    turns = at_home + len(fields) + 2  # set each, apply, exit
    start = "/" if at_home else path
    checks = ends_on(path, **query)
    return draft(intent, start, turns, checks, section=section, fields=named, texts=several(fields.values()))


def _searches(book: Records, rng: random.Random) -> Iterator[Draft]:
    """Nothing but a search. Where else the list could be narrowed, it must not be."""
    names = rng.sample([customer.name for customer in book.data.customers], 30)
    kinds = [" ".join(item.name.lower().split()[1:]) for item in rng.sample(book.data.products, 15)]
    cases = {
        "Orders": (names[:15], {"status": "", "from_": "", "to": ""}),
        "Products": (kinds, {"category": "", "show": ""}),
        "Reviews": (names[15:], {"status": "", "stars": ""}),
    }
    for index in range(15):
        for section, (texts, rest) in cases.items():
            text, path, at_home = texts[index], f"/{section.lower()}", index % 2 == 0
            yield draft(
                f'Search the {section.lower()} for "{text}".',
                "/" if at_home else path,
                2 + at_home,
                ends_on(path, q=text, **rest),
                section=section,
                fields=SEARCH,
                texts=text,
            )


def _customer_lists(rng: random.Random) -> Iterator[Draft]:
    sorts = {"newest": "the newest first", "orders": "those with most orders first"}
    pairs = [(group, sort) for group in customers.GROUPS for sort in sorts]
    for group, sort in rng.sample(pairs, len(pairs)):
        query = {"q": "", "group": group, "sort": sort}
        fields = {"Group": group, "Sort_by": customers.SORTS[sort]}
        intent = f"Show the customers of the {group} group, {sorts[sort]}."
        yield _list_draft(intent, "Customers", "/customers", False, query, **fields)


def _order_lists(book: Records, rng: random.Random) -> Iterator[Draft]:
    cases = [(status, sort, span) for status in orders.STATUSES for sort in _ORDER_SORTS for span in book.months]
    for index, (status, sort, span) in enumerate(rng.sample(cases, 60)):
        query = {"q": "", "status": status, "from_": span.first, "to": span.last, "sort": sort}
        fields = {"Status": status, "From": span.first, "To": span.last, "Sort_by": orders.SORTS[sort]}
        intent = f"Show the {status} orders placed in {span.name}, {_ORDER_SORTS[sort]}."
        yield _list_draft(intent, "Orders", "/orders", index % 2 == 0, query, **fields)


def _status_lists(rng: random.Random) -> Iterator[Draft]:
    pairs = [(status, sort) for status in orders.STATUSES for sort in _ORDER_SORTS]
    for status, sort in rng.sample(pairs, len(pairs)):
        query = {"q": "", "status": status, "from_": "", "to": "", "sort": sort}
        fields = {"Status": status, "Sort_by": orders.SORTS[sort]}
        intent = f"Show all {status} orders, {_ORDER_SORTS[sort]}."
        yield _list_draft(intent, "Orders", "/orders", False, query, **fields)


def _review_lists(rng: random.Random) -> Iterator[Draft]:
    pairs = [(status, stars) for status in moderation.REVIEW_STATUSES for stars in (None, *moderation.STARS)]
    for index, (status, stars) in enumerate(rng.sample(pairs, len(pairs))):
        fields = {"Status": status} | ({"Stars": stars} if stars else {})
        query = {"q": "", "status": status, "stars": stars or ""}
        rated = f" with {stars} {'star' if stars == '1' else 'stars'}" if stars else ""
        yield _list_draft(f"Show the {status} reviews{rated}.", "Reviews", "/reviews", index % 3 == 2, query, **fields)


def _product_lists(book: Records, rng: random.Random) -> Iterator[Draft]:
    sorts = {
        "price_asc": "the cheapest first",
        "price_desc": "the most expensive first",
        "stock_asc": "those with the lowest stock first",
    }
    shows = {"enabled": "enabled", "disabled": "disabled", "low": "low stock"}
    cases = [(category, show, sort) for category in book.data.categories for show in shows for sort in sorts]
    for index, (category, show, sort) in enumerate(rng.sample(cases, len(cases))):
        query = {"q": "", "category": category.slug, "show": show, "sort": sort}
        fields = {"Category": category.name, "Show": products.SHOWS[show], "Sort_by": products.SORTS[sort]}
        intent = f"List the {shows[show]} products of the category {category.name}, {sorts[sort]}."
        yield _list_draft(intent, "Products", "/products", index % 2 == 0, query, **fields)


def _period_lists(book: Records, rng: random.Random) -> Iterator[Draft]:
    reports = {"Bestsellers": "/reports/bestsellers", "Customers by Orders": "/reports/customers"}
    cases = [(name, span) for name in reports for span in (*book.months, *book.quarters)]
    for index, (name, span) in enumerate(rng.sample(cases, len(cases))):
        at_home = index % 2 == 0
        yield draft(
            f"Open the report {name} for {span.name}.",
            "/" if at_home else "/reports",
            5 + at_home,
            ends_on(reports[name], from_=span.first, to=span.last, category=""),
            section=f"Reports > {name}",
            fields=several(("From", "To")),
            texts=several((span.first, span.last)),
        )


def missing(seed: int) -> Iterator[Draft]:
    """The order, product or customer does not exist, or does not allow it."""
    book, rng = records(seed), random.Random(f"admin.missing {seed}")
    return in_turn(
        _missing_orders(rng), _missing_products(book, rng), _blocked_orders(book, rng), _missing_returns(book, rng)
    )


def _missing_orders(rng: random.Random) -> Iterator[Draft]:
    questions = ("What is the total of order {}?", "Who placed order {}?", "Cancel order {}.", "Put order {} on hold.")
    for index, number in enumerate(rng.sample(range(3000, 9000), 20)):
        start, turns = ("/orders", 2) if index % 2 else ("/", 3)
        intent = questions[index % len(questions)].format(number)
        yield draft(intent, start, turns, NOT_POSSIBLE, section="Orders", search=str(number), needs=None)


def _missing_products(book: Records, rng: random.Random) -> Iterator[Draft]:
    known = {item.name for item in book.data.products}
    nouns = {noun: materials for category in CATALOGUE.values() for noun, materials in category.items()}
    names = [f"{adjective} {material} {noun}" for noun in nouns for material in nouns[noun] for adjective in ADJECTIVES]
    strangers = [name for name in names if name not in known]
    questions = ("How many of {} are in stock?", "Set the price of {} to 20.00.", "Disable {}.")
    for index, name in enumerate(rng.sample(strangers, 40)):
        if not book.products_found(name):
            intent = questions[index % len(questions)].format(name)
            start, turns = ("/", 3) if index % 3 else ("/products", 2)
            yield draft(intent, start, turns, NOT_POSSIBLE, section="Products", search=name, needs=None)


def _blocked_orders(book: Records, rng: random.Random) -> Iterator[Draft]:
    """The order exists, but what is asked for is not on its page."""
    asked = {
        "Processing": ("What is the tracking number of order {}?", "Tracking"),
        "Cancelled": ("Ship order {} with {}, tracking number {}.", "Ship"),
        "Delivered": ("Cancel order {}.", "Cancel Order"),
    }
    pools = {
        status: rng.sample([order.id for order in book.data.orders if order.status == status], 14) for status in asked
    }
    for index in range(14 * len(asked)):
        status = tuple(asked)[index % len(asked)]
        question, needs = asked[status]
        number, carrier = pools[status].pop(), rng.choice(tuple(CARRIERS))
        intent = question.format(number, carrier, f"{CARRIERS[carrier]}{rng.randint(10**7, 10**8 - 1)}")
        start, turns = ("/", 4) if index % 2 else (f"/orders?q={number}", 2)
        yield draft(intent, start, turns, NOT_POSSIBLE, section="Orders", search=str(number), needs=needs)


def _missing_returns(book: Records, rng: random.Random) -> Iterator[Draft]:
    items = {item.id: item.order_id for item in book.data.order_items}
    returned = {items[return_.order_item_id] for return_ in book.data.returns}
    others = [order.id for order in book.data.orders if order.id not in returned]
    for number, step in zip(rng.sample(others, 20), cycle(("Approve", "Refuse"))):
        intent = f"{step} the return from order {number}."
        yield draft(intent, "/", 4, NOT_POSSIBLE, section="Orders > Returns", search=str(number), needs=None)
