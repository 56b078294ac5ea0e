"""Templates about orders and returns: facts of an order, its way through the shop, notes, shipments, decisions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice

from clickgrad.tasks.admin.drafts import (
    answers,
    changes,
    chunks,
    distinct,
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
from clickgrad.types import RowChange
from clickgrad.worlds.pages import day, money
from clickgrad.worlds.shop.content import CARRIERS
from clickgrad.worlds.shop.rows import Order, Return

STAFF_ID = 1  # of the default user
# fact -> (the question, the answer, how many pages beyond the list: the order's, the customer's)
_FACTS: dict[str, tuple[str, Callable[[Records, Order], str], int]] = {
    "Total": ("What is the total of order {}?", lambda _, order: money(order.total_cents), 0),
    "Email": (
        "What is the email address of the customer of order {}?",
        lambda book, order: book.customers[order.customer_id].email,
        1,
    ),
    "Customer": ("Who placed order {}?", lambda book, order: book.customers[order.customer_id].name, 0),
    "Address": ("To which address does order {} go?", lambda _, order: order.address, 1),
    "Phone": (
        "What is the phone number of the customer of order {}?",
        lambda book, order: book.customers[order.customer_id].phone,
        2,
    ),
    "Date": ("On what date was order {} placed?", lambda _, order: day(order.created), 0),
}
# step -> (statuses it is open to, the status after it, how to ask for it)
STEPS = {
    "Hold": ("Processing", "On Hold", "Put order {} on hold."),
    "Unhold": ("On Hold", "Processing", "Take order {} off hold."),
    "Cancel Order": ("Processing", "Cancelled", "Cancel order {}."),
    "Mark as Delivered": ("Shipped", "Delivered", "Mark order {} as delivered."),
}
NOTES = (
    "Your parcel will arrive one day later.",
    "The customer asked for a gift box.",
    "One item comes in a second parcel.",
    "Please ring the bell twice.",
    "The address is checked.",
    "Your order is being packed.",
    "The customer will pick it up.",
    "We called but nobody answered.",
    "The refund takes three days.",
    "Leave the parcel with a neighbor.",
)


def _sampled(rng: random.Random, orders: Sequence[Order], *statuses: str) -> list[Order]:
    own = [order for order in orders if order.status in statuses or not statuses]
    return rng.sample(own, len(own))


def order_facts(seed: int) -> Iterator[Draft]:
    """Short: on the order's page or a search away. Middle: from home. Long: tracking numbers, or the highest total."""
    book, rng = records(seed), random.Random(f"admin.order_facts {seed}")
    orders = _sampled(rng, book.data.orders)
    near, far, rest = orders[:300], orders[300:600], orders[600:]
    sent = [order for order in rest if order.status in ("Shipped", "Delivered")]
    return in_turn(_near_facts(book, near), _far_facts(book, far), in_turn(_tracking(book, sent), _highest(rest[::-1])))


def _near_facts(book: Records, orders: Sequence[Order]) -> Iterator[Draft]:
    for order, fact in zip(orders, cycle(_FACTS)):
        question, answer, depth = _FACTS[fact]
        start = "/orders" if depth < 2 else f"/orders/{order.id}"
        turns = 2 + depth if depth < 2 else 2
        yield draft(question.format(order.id), start, turns, answers(answer(book, order)), orders=order.id, fact=fact)


def _far_facts(book: Records, orders: Sequence[Order]) -> Iterator[Draft]:
    facts = [fact for fact, (_, _, depth) in _FACTS.items() if depth]
    for order, fact in zip(orders, cycle(facts)):
        question, answer, depth = _FACTS[fact]
        yield draft(question.format(order.id), "/", 3 + depth, answers(answer(book, order)), orders=order.id, fact=fact)


def _tracking(book: Records, orders: Sequence[Order]) -> Iterator[Draft]:
    numbers = {shipment.order_id: shipment.tracking for shipment in book.data.shipments}
    for index, some in enumerate(chunks(orders, 4)):
        ids = [order.id for order in some[: 3 + index % 2]]
        yield draft(
            f"What are the tracking numbers of the orders {listed(ids)}?",
            "/",
            3 * len(ids) + 1,  # each: to the list, search, open
            names_all(*(numbers[id_] for id_ in ids)),
            orders=several(ids),
            fact="Tracking",
        )


def _highest(orders: Sequence[Order]) -> Iterator[Draft]:
    totals = {str(order.id): order.total_cents for order in orders}
    for some in chunks(orders, 6):
        ids = [str(order.id) for order in some]
        first = best(ids, totals.__getitem__)
        if first:
            yield draft(
                f"Which of the orders {listed(ids)} has the highest total?",
                "/",
                2 + len(ids),
                answers(first, f"Order {first}"),
                orders=several(ids),
                fact="highest",
            )


def order_status(seed: int) -> Iterator[Draft]:
    """Short: on the order's page. Middle: from the list or from home. Long: two or three orders."""
    book, rng = records(seed), random.Random(f"admin.order_status {seed}")
    pools = {name: iter(_sampled(rng, book.data.orders, before)) for name, (before, _, _) in STEPS.items()}
    # (start page, how many orders, turns)
    ladder = cycle((("page", 1, 2), ("list", 1, 4), ("home", 2, 9), ("page", 1, 2), ("home", 1, 5), ("home", 3, 13)))
    taken: set[int] = set()  # Hold and Cancel draw from the same orders
    names = cycle(STEPS)

    def next_order(name: str) -> Order | None:
        order = next((order for order in pools[name] if order.id not in taken), None)
        if order:
            taken.add(order.id)
        return order

    for start, many, turns in ladder:
        steps = [next(names) for _ in range(many)]
        orders = [next_order(step) for step in steps]
        if any(order is None for order in orders):
            return
        done = [(step, order) for step, order in zip(steps, orders, strict=True) if order]
        ids = [order.id for _, order in done]
        paths = {"page": f"/orders/{ids[0]}", "list": "/orders", "home": "/"}
        yield draft(
            " ".join(STEPS[step][2].format(order.id) for step, order in done),
            paths[start],
            turns,
            changes(*(update("orders", order.id, status=STEPS[step][1]) for step, order in done)),
            orders=several(ids),
            steps=several(steps),
        )


def ship_order(seed: int) -> Iterator[Draft]:
    """Middle: from the order's page or its form. Long: from home; two orders."""
    book, rng = records(seed), random.Random(f"admin.ship_order {seed}")
    orders = iter(_sampled(rng, book.data.orders, "Processing"))
    for start in cycle(("form", "home", "two", "page", "home", "two")):
        some = list(islice(orders, 2 if start == "two" else 1))
        if not some:
            return
        carriers = [rng.choice(tuple(CARRIERS)) for _ in some]
        numbers = [f"{CARRIERS[carrier]}{rng.randint(10**7, 10**8 - 1)}" for carrier in carriers]
        parcels = list(zip((order.id for order in some), carriers, numbers, strict=True))
        paths = {"form": f"/orders/{some[0].id}/ship", "page": f"/orders/{some[0].id}"}
        turns = {"form": 4, "page": 5, "home": 8, "two": 15}
        yield draft(
            " ".join(f"Ship order {id_} with {carrier}, tracking number {number}." for id_, carrier, number in parcels),
            paths.get(start, "/"),
            turns[start],
            changes(*(row for parcel in parcels for row in _shipped(*parcel))),
            orders=several(order.id for order in some),
            carriers=several(carriers),
            numbers=several(numbers),
        )


def _shipped(order_id: int, carrier: str, tracking: str) -> tuple[RowChange, RowChange]:
    return (
        insert("shipments", order_id=order_id, carrier=carrier, tracking=tracking),
        update("orders", order_id, status="Shipped"),
    )


def note_order(seed: int) -> Iterator[Draft]:
    """Short: on the form. Middle: from the order's page or home. Long: with a step beside it; two orders."""
    book, rng = records(seed), random.Random(f"admin.note_order {seed}")
    orders = iter(_sampled(rng, book.data.orders, "Processing"))
    # (start page, how many orders, whether the customer is told, whether the order is put on hold, turns)
    ladder = (
        ("form", 1, False, False, 3), ("page", 1, True, False, 5), ("home", 1, True, True, 9),
        ("form", 1, False, False, 3), ("home", 1, False, False, 7), ("home", 2, True, False, 15),
    )  # fmt: skip
    for (start, many, notify, hold, turns), text in zip(cycle(ladder), cycle(NOTES)):
        ids = [order.id for order in islice(orders, many)]
        if len(ids) < many:
            return
        how = "and notify the customer by email" if notify else "without notifying the customer"
        paths = {"form": f"/orders/{ids[0]}/note", "page": f"/orders/{ids[0]}", "home": "/"}
        rows = [insert("order_notes", order_id=id_, staff_id=STAFF_ID, text=text, notify=int(notify)) for id_ in ids]
        rows += [update("orders", id_, status="On Hold") for id_ in ids if hold]
        named = f"{'orders' if many > 1 else 'order'} {listed(ids)}"
        yield draft(
            f'{f"Put {named} on hold. " if hold else ""}Add the note "{text}" to {named} {how}.',
            paths[start],
            turns,
            changes(*rows),
            orders=several(ids),
            text=text,
            notify=notify,
            hold=hold,
        )


def handle_return(seed: int) -> Iterator[Draft]:
    """Short: on the return's page. Middle: from the list or home. Long: two or three."""
    book, rng = records(seed), random.Random(f"admin.handle_return {seed}")
    asked = [return_ for return_ in book.data.returns if return_.status == "Requested"]
    singles = [(return_, step) for return_ in asked for step in ("Approve", "Refuse")]
    groups = [rng.sample(asked, 2 + index % 2) for index in range(60)]
    steps = ("Approve", "Refuse", "Approve")
    rng.shuffle(singles)
    half = len(singles) // 2
    return in_turn(
        _decisions(book, [(case,) for case in singles[:half]], at_home=False),
        _decisions(book, [(case,) for case in singles[half:]], at_home=True),
        distinct(_decisions(book, [tuple(zip(group, steps, strict=False)) for group in groups], at_home=True)),
    )


def _decisions(book: Records, cases: Sequence[tuple[tuple[Return, str], ...]], at_home: bool) -> Iterator[Draft]:
    items = {item.id: item for item in book.data.order_items}
    after = {"Approve": "Approved", "Refuse": "Refused"}
    for case in cases:
        things = [items[return_.order_item_id] for return_, _ in case]
        names = [book.products[item.product_id].name for item in things]
        orders = [item.order_id for item in things]
        steps = [step for _, step in case]
        yield draft(
            " ".join(
                f"{step} the return of {name} from order {order}."
                for step, name, order in zip(steps, names, orders, strict=True)
            ),
            "/" if at_home else f"/returns/{case[0][0].id}",
            2 + 4 * len(case) if at_home else 2,  # orders; to the list, search, open, decide each; exit
            changes(*(update("returns", return_.id, status=after[step]) for return_, step in case)),
            orders=several(orders),
            products=several(names),
            steps=several(steps),
        )
