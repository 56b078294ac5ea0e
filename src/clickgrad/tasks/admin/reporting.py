"""Templates that read the reports: bestsellers, sales, search terms, customers by orders; and the number of orders."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import cycle

from clickgrad.tasks.admin.drafts import answers, distinct, draft, in_turn, listed, names_all, several
from clickgrad.tasks.admin.records import Records, Span, best, records, stands_alone
from clickgrad.tasks.templates import Draft
from clickgrad.worlds.admin.reports import REPORT_SIZE
from clickgrad.worlds.pages import day, money
from clickgrad.worlds.shop.data import PAYMENT_METHODS, SHIPPING_CENTS, STATUSES
from clickgrad.worlds.shop.rows import SearchTerm

RANKS = ("best-selling", "second best-selling", "third best-selling")
_ORDINALS = ("most", "second most", "third most", "fourth most", "fifth most", "sixth most", "seventh most")


def top_seller(seed: int) -> Iterator[Draft]:
    """Short: a category, from the report. Middle: a month or quarter. Long: two or three months."""
    book, rng = records(seed), random.Random(f"admin.top_seller {seed}")
    spans = [(span, rank) for span in (*book.months, *book.quarters) for rank in range(len(RANKS))]
    rng.shuffle(spans)
    return in_turn(_category_sellers(book, rng), _span_sellers(book, spans), distinct(_several_months(book, rng)))


def _category_sellers(book: Records, rng: random.Random) -> Iterator[Draft]:
    """The dates are set already when the year matters."""
    cases = [
        (category, rank, year)
        for category in book.data.categories
        for rank in range(len(RANKS))
        for year in (None, Span("2024", "2024-01-01", "2024-12-31"))
    ]
    for category, rank, year in rng.sample(cases, len(cases)):
        ranking = book.bestsellers(year, category)
        if stands_alone(ranking, rank):
            yield draft(
                f"What is the {RANKS[rank]} {category.name} product {f'in {year.name}' if year else 'of all time'}?",
                f"/reports/bestsellers?from={year.first}&to={year.last}" if year else "/reports/bestsellers",
                3,
                answers(ranking[rank][0]),
                category=category.name,
                rank=rank,
            )


def _span_sellers(book: Records, spans: list[tuple[Span, int]]) -> Iterator[Draft]:
    for (span, rank), at_home in zip(spans, cycle((True, False, True))):
        ranking = book.bestsellers(span)
        if stands_alone(ranking, rank):
            yield draft(
                f"What is the {RANKS[rank]} product in {span.name}?",
                "/" if at_home else "/reports/bestsellers",
                4 + 2 * at_home,
                answers(ranking[rank][0]),
                first=span.first,
                last=span.last,
                rank=rank,
            )


def _several_months(book: Records, rng: random.Random) -> Iterator[Draft]:
    winners = {span: book.bestsellers(span)[0][0] for span in book.months if stands_alone(book.bestsellers(span), 0)}
    for index in range(60):
        spans = sorted(rng.sample(list(winners), 2 + index % 2), key=lambda span: span.first)
        names = [winners[span] for span in spans]
        if len(set(names)) == len(names):
            yield draft(
                f"Name the best-selling product of each of these months: {listed([span.name for span in spans])}.",
                "/",
                3 + 3 * len(spans),
                names_all(*names),
                first=several(span.first for span in spans),
                last=several(span.last for span in spans),
                rank=0,
            )


def count_orders(seed: int) -> Iterator[Draft]:
    """Short: a customer's orders. Middle: a month, with or without a status. Long: months compared."""
    book, rng = records(seed), random.Random(f"admin.count_orders {seed}")
    most = distinct(_month_with_most(book, rng))
    return in_turn(_orders_of_customer(book, rng), _orders_of_month(book, rng), most)


def _orders_of_customer(book: Records, rng: random.Random) -> Iterator[Draft]:
    for index, customer in enumerate(rng.sample(book.data.customers, 120)):
        own = [order for order in book.data.orders if order.customer_id == customer.id]
        if len(own) < 2 or len(book.orders_found(customer.name)) != len(own):
            continue
        status = rng.choice(own).status if index % 2 else None
        asked = f"{status} orders does {customer.name} have" if status else f"orders has {customer.name} placed"
        yield draft(
            f"How many {asked}?",
            "/orders" if status else "/",
            3,
            answers(str(sum(order.status == (status or order.status) for order in own))),
            customer=customer.name,
            status=status,
            first=None,
            last=None,
        )


def _orders_of_month(book: Records, rng: random.Random) -> Iterator[Draft]:
    pairs = [(span, status) for span in book.months for status in ("", *STATUSES)]
    for index, (span, status) in enumerate(rng.sample(pairs, len(pairs))):
        orders = [order for order in book.data.orders if span.holds(order.created)]
        number = sum(order.status == (status or order.status) for order in orders)
        at_home = index % 2 == 0
        if number:
            yield draft(
                f"How many {status} orders were placed in {span.name}?".replace("  ", " "),
                "/" if at_home else "/orders",
                4 + bool(status) + at_home,
                answers(str(number)),
                customer=None,
                status=status or None,
                first=span.first,
                last=span.last,
            )


def _month_with_most(book: Records, rng: random.Random) -> Iterator[Draft]:
    for index in range(60):
        status, size = ("Delivered", "Cancelled")[index % 2], (2, 3)[index % 3 > 0]
        spans = {span.name: span for span in sorted(rng.sample(book.months[:-1], size), key=lambda span: span.first)}
        numbers = {
            name: sum(order.status == status and span.holds(order.created) for order in book.data.orders)
            for name, span in spans.items()
        }
        first = best(list(spans), numbers.__getitem__)
        if first:
            yield draft(
                f"Which month has the most {status} orders: {listed(list(spans), 'or')}?",
                "/",
                3 + 3 * size,
                answers(first, first.split()[0]),
                customer=None,
                status=status,
                names=several(spans),
                first=several(span.first for span in spans.values()),
                last=several(span.last for span in spans.values()),
            )


def sales_figure(seed: int) -> Iterator[Draft]:
    """Short: a month's line. Middle: a quarter, or a way to pay or ship. Long: the same in several months."""
    book, rng = records(seed), random.Random(f"admin.sales_figure {seed}")
    one, more = (distinct(_parts_of_months(book, rng, *months)) for months in ((1,), (2, 3)))
    return in_turn(_month_lines(book, rng), one, more)


def _month_lines(book: Records, rng: random.Random) -> Iterator[Draft]:
    questions = {
        "sales": "What were the total sales in {}?",
        "orders": "How many orders does the sales report show for {}?",
    }
    pairs = [(index, fact) for index in range(len(book.months)) for fact in questions]
    for index, fact in rng.sample(pairs, len(pairs)):
        span, turned = book.months[-1 - index], index // REPORT_SIZE
        orders = book.counted(span)
        right = money(sum(order.total_cents for order in orders)) if fact == "sales" else str(len(orders))
        yield draft(
            questions[fact].format(span.name),
            "/reports/sales" if turned else "/",
            3 - turned,
            answers(right),
            fact=fact,
            part=span.name,
            group="Month",
            first=None,
            last=None,
        )


def _parts_of_months(book: Records, rng: random.Random, *sizes: int) -> Iterator[Draft]:
    parts = [("Payment", name) for name in PAYMENT_METHODS] + [("Shipping", name) for name in SHIPPING_CENTS]
    for index in range(60):
        group, part = parts[index % len(parts)]
        months = sizes[index % len(sizes)]
        spans = sorted(rng.sample(book.months, months), key=lambda span: span.first)
        sums = [
            sum(o.total_cents for o in book.counted(span) if part in (o.payment_method, o.shipping_method))
            for span in spans
        ]
        if not all(sums):
            continue
        at_home = index % 2 == 0 or months > 1
        way = f"paid by {part}" if group == "Payment" else f"with {part} shipping"
        asked = f"What were the sales of orders {way} in {listed([span.name for span in spans])}?"
        yield draft(
            f"{asked} Give each amount." if months > 1 else asked,
            "/" if at_home else "/reports/sales",
            3 * months + 2 + 2 * at_home,
            names_all(*map(money, sums)) if months > 1 else answers(money(sums[0])),
            fact="sales",
            part=part,
            group=group,
            first=several(span.first for span in spans),
            last=several(span.last for span in spans),
        )


def search_term(seed: int) -> Iterator[Draft]:
    """Short: a term from the report, or a place in it. Middle: the same from home. Long: which of several terms."""
    book, rng = records(seed), random.Random(f"admin.search_term {seed}")
    terms = rng.sample(book.data.search_terms, len(book.data.search_terms))
    half = len(terms) // 2
    return in_turn(
        in_turn(_term_facts(book, terms[:half], "/reports/search-terms"), _term_places(book)),
        _term_facts(book, terms[half:], "/"),
        _most_used(book, rng),
    )


def _term_facts(book: Records, terms: list[SearchTerm], start: str) -> Iterator[Draft]:
    questions = {
        "uses": 'How many times was "{}" searched for?',
        "results": 'How many results does the search term "{}" have?',
        "last": 'On what date was the search term "{}" last used?',
    }
    for term, fact in zip(terms, cycle(questions)):
        right = {"uses": str(term.uses), "results": str(term.results), "last": day(term.last_used)}[fact]
        hits = [other for other in book.data.search_terms if term.term in other.term]
        if len(hits) <= REPORT_SIZE:
            turns = 2 if start != "/" else 4
            yield draft(questions[fact].format(term.term), start, turns, answers(right), terms=term.term, fact=fact)


def _term_places(book: Records) -> Iterator[Draft]:
    """Beyond the few that the dashboard shows."""
    ranking = sorted(book.data.search_terms, key=lambda term: -term.uses)
    for place in (4, 5, 6):
        intent = f"What is the {_ORDINALS[place]} used search term?"
        yield draft(intent, "/", 3, answers(ranking[place].term), terms=None, fact="place", place=place)


def _most_used(book: Records, rng: random.Random) -> Iterator[Draft]:
    uses = {term.term: term.uses for term in book.data.search_terms}
    for index in range(40):
        chosen = rng.sample(sorted(uses), 5 + index % 2)
        quoted = ", ".join(f'"{term}"' for term in chosen)
        right = max(chosen, key=uses.__getitem__)
        intent = f"Which of these search terms was used most: {quoted}?"
        yield draft(intent, "/", 3 + len(chosen), answers(right), terms=several(chosen), fact="most")


def best_customer(seed: int) -> Iterator[Draft]:
    """Who ordered most in a month or quarter: the name, the email address, the phone number."""
    book, rng = records(seed), random.Random(f"admin.best_customer {seed}")
    emails = {customer.name: customer.email for customer in book.data.customers}
    phones = {customer.name: customer.phone for customer in book.data.customers}
    questions = {
        "name": ("Which customer placed the most orders in {}?", 0),
        "email": ("What is the email address of the customer who placed the most orders in {}?", 2),
        "phone": ("What is the phone number of the customer who placed the most orders in {}?", 3),
    }
    spans = rng.sample([*book.months, *book.quarters], len(book.months) + len(book.quarters))
    # Each round asks something else about the same periods.
    cases = [(span, [*questions][(index + turn) % 3]) for turn in range(3) for index, span in enumerate(spans)]
    for index, (span, fact) in enumerate(cases):
        ranking = book.buyers(span)
        if stands_alone(ranking, 0):
            name, at_home = ranking[0][0], index % 2 == 0
            question, further = questions[fact]
            yield draft(
                question.format(span.name),
                "/" if at_home else "/reports/customers",
                4 + 2 * at_home + further,
                answers({"name": name, "email": emails[name], "phone": phones[name]}[fact]),
                fact=fact,
                first=span.first,
                last=span.last,
            )
