"""How questions over several pages are done: reviews, orders, information pages, and what cannot be done."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping

from clickgrad.tasks.moves import (
    ExpertLost,
    Move,
    Script,
    about,
    click,
    fill,
    find,
    finish,
    labelled,
    line_after,
    noted,
    search,
    seek,
    select,
    texts,
)
from clickgrad.tasks.shop.scripts import (
    Row,
    cents,
    follow,
    open_cart,
    open_order,
    open_orders,
    open_product,
    rows_on,
)
from clickgrad.types import Click, GoBackward, Observation, Scalar, Task
from clickgrad.worlds.pages import money

# --- reviews --------------------------------------------------------------------------------------------------------

_REVIEW = re.compile(r"(?P<stars>\d) stars?, (?P<nickname>\w+): (?P<text>.*)")
_ALL_REVIEWS = re.compile(r"All \d+ Reviews")


def _reviews_on(page: Observation) -> list[re.Match[str]]:
    return [found for line in texts(page) if (found := _REVIEW.fullmatch(line))]


def _more_reviews(page: Observation) -> Move | None:
    """To the page of all reviews, or to its next part."""
    link = next((one for one in page.elements if one.role == "link" and _ALL_REVIEWS.fullmatch(one.name)), None)
    link = link or seek(page, "link", "Next")
    return Move(Click(link.id), about(link), "there are more reviews") if link else None


def _all_reviews(page: Observation) -> Move:
    move = _more_reviews(page)
    if move is None:
        raise ExpertLost(f"no link to more reviews on {page.url}")
    return move


def _remember(move: Move, known: str) -> Move:
    """Carries on what earlier products have shown, if there were any."""
    return noted(move, known) if known else move


def _count(page: Observation, stars: object, known: str) -> Generator[Move, Observation, tuple[Observation, int]]:
    """From a product's page through all its reviews."""
    many = 0
    page = yield _remember(_all_reviews(page), known)
    while True:
        many += sum(review["stars"] == str(stars) for review in _reviews_on(page))
        following = _more_reviews(page)
        if following is None:
            return page, many
        page = yield noted(following, ", ".join(filter(None, (known, f"{many} with {stars} stars so far"))))


def review_fact(task: Task, page: Observation) -> Script:
    kind = str(task.param("kind"))
    if kind == "most":
        yield from _most_reviews(task, page)
        return
    page = yield from open_product(page, str(task.param("product")))
    if kind == "lowest":
        page = yield _all_reviews(page)
        page = yield select(page, "Sort by", "Lowest rating", "this puts the lowest rating first")
        page = yield click(page, "button", "Apply", "the order changes only when I apply it")
        first = _reviews_on(page)[0]
        yield finish(first["nickname"], first[0], "in this order the first one is the answer")
    elif kind == "count":
        stars = task.param("stars")
        page, many = yield from _count(page, stars, "")
        yield finish(str(many), f"{many} reviews with {stars} stars", "I have seen all reviews")
    else:
        asked, answer, sought = ("text", "nickname", "sentence") if kind == "who" else ("nickname", "stars", "nickname")
        wanted = str(task.param(sought))
        while not (found := [review for review in _reviews_on(page) if wanted in review[asked]]):
            page = yield _more_reviews(page) or _all_reviews(page)
        yield finish(found[0][answer], found[0][0], "this is the review")


def _most_reviews(task: Task, page: Observation) -> Script:
    stars, counts = task.param("stars"), dict[str, int]()
    for name in (str(value) for name, value in task.params if name.startswith("product")):
        known = ", ".join(f"{seen} has {many} with {stars} stars" for seen, many in counts.items())
        page = yield _remember(search(page, name, f"I need to find {name}"), known)
        page = yield _remember(click(page, "link", name, "its page leads to its reviews"), known)
        page, counts[name] = yield from _count(page, stars, known)
    best = max(counts, key=counts.__getitem__)
    yield finish(best, ", ".join(f"{name} {many}" for name, many in counts.items()), "I have counted all of them")


# --- orders ---------------------------------------------------------------------------------------------------------


def spending(task: Task, page: Observation) -> Script:
    kind, params = str(task.param("kind")), dict(task.params)
    page = yield from open_orders(page)
    taken: list[Row] = []
    pieces = 0
    while True:
        rows = rows_on(page)
        matching = [row for row in rows if _counts(row, params)]
        taken += matching
        for row in matching if kind == "pieces" else ():
            page = yield noted(click(page, "link", row.link.name, "its page says how many"), f"{pieces} pieces so far")
            pieces += sum(int(line["pieces"]) for line in _items_on(page).values())
            page = yield Move(GoBackward(), f"Note: {pieces} pieces with {row.link.name}", "I need the other orders")
        # The latest come first: once the month has begun and is over, the rest is older.
        over = "month" in params and bool(taken) and not _counts(rows[-1], params)
        if over or seek(page, "link", "Next") is None:
            break
        note = f"so far {f'{pieces} pieces' if kind == 'pieces' else _memo(kind, taken)}"
        page = yield noted(click(page, "link", "Next", "the list goes on"), note)
    if kind == "pieces":
        yield finish(str(pieces), f"{pieces} pieces in {params['month']}", "I have seen all orders of the month")
    elif kind == "sum":
        total = money(sum(cents(row.total) for row in taken))
        yield finish(total, f"{' + '.join(row.total for row in taken)} = {total}", "I have added them up")
    elif kind == "count":
        yield finish(str(len(taken)), f"{len(taken)} orders are {params['status']}", "I have seen all orders")
    else:
        best = max(taken, key=lambda row: cents(row.total))
        yield finish(best.number, f"{best.link.name} with {best.total}", "I have compared all totals")


def _counts(row: Row, params: Mapping[str, Scalar]) -> bool:
    if "month" in params:
        month, year = str(params["month"]).split()
        return row.date.startswith(f"{month} ") and row.date.endswith(year)
    return "status" not in params or row.status == params["status"]


def _memo(kind: str, rows: list[Row]) -> str:
    if kind == "sum":
        return ", ".join(row.total for row in rows) or "none"
    if kind == "count":
        return f"{len(rows)} orders"
    best = max(rows, key=lambda row: cents(row.total))
    return f"{best.link.name} with {best.total}"


_LINE = re.compile(r"(?:\w+, )?(?P<pieces>\d+) pieces?, (?P<total>\$[\d.,]+\d).*")


def _items_on(page: Observation) -> dict[str, re.Match[str]]:
    """The products of an order's page, each with its line."""
    found = {}
    lines = texts(page)
    for element in page.elements:
        if element.role == "link" and element.name not in ("Help", "Return an Item"):
            line = _LINE.fullmatch(line_after(page, element))
            if line:
                found[element.name] = line
    if not found:
        raise ExpertLost(f"no items in {lines[:3]} on {page.url}")
    return found


def latest_order(task: Task, page: Observation) -> Script:
    kind = str(task.param("kind"))
    page = yield from open_orders(page)
    rows = rows_on(page)
    if not rows:
        raise ExpertLost(f"no orders on {page.url}")
    latest = rows[0]
    if kind == "status":
        yield finish(latest.status, f"{latest.link.name} {latest.text}", "the first order is the latest")
        return
    if kind == "most":
        yield from _fullest(page, rows[: int(str(task.param("many")))])
        return
    page = yield click(page, "link", latest.link.name, "the first order is the latest")
    if kind == "tracking":
        answer = labelled(page, "Tracking")
        yield finish(answer.split()[-1], f"Tracking: {answer}", "the page names the number")
        return
    items = _items_on(page)
    if kind == "pieces":
        pieces = [line["pieces"] for line in items.values()]
        total = str(sum(map(int, pieces)))
        yield finish(total, f"{' + '.join(pieces)} = {total}", "I have added them up")
        return
    dearest = max(items, key=lambda name: cents(items[name]["total"]) / int(items[name]["pieces"]))
    if kind == "dearest":
        yield finish(dearest, f"{dearest} {items[dearest][0]}", "no other item costs as much")
        return
    page = yield click(page, "link", dearest, "it is the most expensive item, its page says more")
    label = {"brand": "Brand", "stock": "In stock"}[kind]
    answer = labelled(page, label)
    yield finish(answer, f"{label}: {answer}", "the page names what I was asked for")


def _fullest(page: Observation, rows: list[Row]) -> Script:
    pieces: dict[str, int] = {}
    for row in rows:
        page = yield click(page, "link", row.link.name, "its page says how many pieces it has")
        pieces[row.number] = sum(int(line["pieces"]) for line in _items_on(page).values())
        if row != rows[-1]:
            known = ", ".join(f"order {number} has {many} pieces" for number, many in pieces.items())
            page = yield Move(GoBackward(), f"Note: {known}", "I have to look at the others")
    best = max(pieces, key=pieces.__getitem__)
    yield finish(best, f"order {best} has {pieces[best]} pieces", "I have looked at all of them")


def find_order(task: Task, page: Observation) -> Script:
    kind, name = str(task.param("kind")), str(task.param("product"))
    page = yield from open_orders(page)
    while True:
        for row in rows_on(page):
            page = yield click(page, "link", row.link.name, "only its own page says what is in it")
            items = _items_on(page)
            if name in items:
                answers = {"number": row.number, "date": row.date, "pieces": items[name]["pieces"]}
                note = f"{row.link.name}, {row.date}: {name} {items[name][0]}"
                yield finish(answers[kind], note, "this order has it")
                return
            page = yield Move(GoBackward(), f"Note: {row.link.name} does not have {name}", "this is not the order")
        page = yield click(page, "link", "Next", "none of these orders has it")


# --- information ----------------------------------------------------------------------------------------------------


def store_info(task: Task, page: Observation) -> Script:
    page = yield from follow(page, "Help", str(task.param("page")))
    before, after = str(task.param("before")), str(task.param("after"))
    for line in texts(page):
        if before in line:
            answer = line.partition(before)[2].partition(after)[0]
            yield finish(answer, line, "the page says it")
            return
    raise ExpertLost(f"no line with {before!r} on {page.url}")


# --- what cannot be done --------------------------------------------------------------------------------------------


def unachievable(task: Task, page: Observation) -> Script:
    kind, params = str(task.param("kind")), dict(task.params)
    if kind == "unknown":
        page = yield search(page, str(params["product"]), f"I need to find {params['product']}")
        reason = "No products found." if "No products found." in texts(page) else ""
    elif kind in ("cancel", "return"):
        page = yield from open_order(page, params["order"])
        button = seek(page, "button", "Cancel Order") if kind == "cancel" else seek(page, "link", "Return an Item")
        reason = "" if button else f"Status: {labelled(page, 'Status')}"
    elif kind == "coupon":
        page = yield from open_cart(page)
        page = yield fill(page, "Coupon code", str(params["coupon"]), "this is the code")
        page = yield click(page, "button", "Apply Coupon", "I have to apply it")
        reason = next((line for line in texts(page) if line == "This coupon is not valid."), "")
    else:
        page = yield from open_product(page, str(params["product"]))
        if kind == "size":
            sizes = find(page, "select", "Size").options
            reason = "" if params["size"] in sizes else f"the sizes are {', '.join(sizes[1:])}"
        else:
            reason = f"In stock: {labelled(page, 'In stock')}"
    if not reason:
        raise ExpertLost(f"it can be done after all on {page.url}")
    yield finish("N/A", reason, "it cannot be done here")
