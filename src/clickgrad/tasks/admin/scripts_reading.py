"""How the templates that change nothing are done."""

from __future__ import annotations

import re

from clickgrad.tasks.admin.ways import (
    figures,
    narrow,
    report_lines,
    set_period,
    several,
    to_order,
    to_product,
    to_report,
    to_section,
)
from clickgrad.tasks.moves import (
    ExpertLost,
    Script,
    Way,
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
from clickgrad.types import Observation, Task

NOT_POSSIBLE = "N/A"


def top_seller(task: Task, page: Observation) -> Script:
    page = yield from to_report(page, "Bestsellers")
    rank = int(str(task.param("rank")))
    if "category" in dict(task.params):
        page = yield select(page, "Category", str(task.param("category")), "only this category is asked for")
        page = yield click(page, "button", "Apply", "the report changes only when I apply the category")
        name, numbers = report_lines(page, "sold")[rank]
        yield finish(name, f"{name}: {numbers}", f"it is number {rank + 1} of the list")
        return
    winners: list[str] = []
    for first, last in zip(several(task, "first"), several(task, "last"), strict=True):
        begin = fill(page, "From", first, "the period begins on this day")
        page = yield noted(begin, f"{winners[-1]} was best before {first}") if winners else begin
        page = yield fill(page, "To", last, "the period ends on this day")
        page = yield click(page, "button", "Apply", "the report changes only when I apply the dates")
        winners.append(report_lines(page, "sold")[rank][0])
    yield finish(" and ".join(winners), f"{winners[-1]} is number {rank + 1} of the list")


def count_orders(task: Task, page: Observation) -> Script:
    page = yield from to_section(page, "Orders")
    if status := task.param("status"):
        page = yield from narrow(page, "Status", str(status))
    if customer := task.param("customer"):
        page = yield search(page, str(customer), "only this customer's orders count")
    if not task.param("first"):
        number = labelled(page, "Orders found")
        yield finish(number, f"Orders found: {number}", "the page says how many there are")
        return
    counts: dict[str, int] = {}
    for index, (first, last) in enumerate(zip(several(task, "first"), several(task, "last"), strict=True)):
        begin = fill(page, "From", first, "the month begins on this day")
        known = ", ".join(f"{name} {number}" for name, number in counts.items())
        page = yield noted(begin, known) if known else begin
        page = yield fill(page, "To", last, "the month ends on this day")
        page = yield click(page, "button", "Apply", "the list changes only when I apply the dates")
        names = several(task, "names") if "names" in dict(task.params) else [""]
        counts[names[index]] = int(labelled(page, "Orders found"))
    if len(counts) == 1:
        number = str(*counts.values())
        yield finish(number, f"Orders found: {number}", "the page says how many there are")
        return
    first_name = max(counts, key=counts.__getitem__)
    note = ", ".join(f"{name} {number}" for name, number in counts.items())
    yield finish(first_name, note, f"{first_name} has the highest number")


def sales_figure(task: Task, page: Observation) -> Script:
    part, group = str(task.param("part")), str(task.param("group"))
    page = yield from to_report(page, "Sales")
    if group == "Month":
        while not any(name == part for name, _ in report_lines(page, "orders?")):
            page = yield click(page, "link", "Next", "this page of the report does not go back so far")
        line = figures(page, "orders?", part)
        answer = line.split(", ")[1] if task.param("fact") == "sales" else line.split()[0]
        yield finish(answer, f"{part}: {line}", "this line says it")
        return
    page = yield from narrow(page, "Group by", group)
    sums: list[str] = []
    for first, last in zip(several(task, "first"), several(task, "last"), strict=True):
        begin = fill(page, "From", first, "the month begins on this day")
        page = yield noted(begin, f"{part} {sums[-1]} before {first}") if sums else begin
        page = yield fill(page, "To", last, "the month ends on this day")
        page = yield click(page, "button", "Apply", "the report changes only when I apply the settings")
        sums.append(figures(page, "orders?", part).split(", ", 1)[1])
    yield finish(" and ".join(sums), f"{part}: {sums[-1]}", "this is what the report says")


def search_term(task: Task, page: Observation) -> Script:
    fact = str(task.param("fact"))
    page = yield from to_report(page, "Search Terms")
    if fact == "place":
        place = int(str(task.param("place")))
        name, numbers = report_lines(page, "uses?")[place]
        yield finish(name, f"{name}: {numbers}", f"it is number {place + 1} of the list")
        return
    uses: dict[str, int] = {}
    for term in several(task, "terms"):
        look = search(page, term, f"I need the line of {term}")
        known = max(uses, key=uses.__getitem__) if uses else ""
        page = yield noted(look, f"most so far {known} {uses[known]}") if known else look
        uses[term] = int(figures(page, "uses?", term).split()[0])
    if fact == "most":
        first = max(uses, key=uses.__getitem__)
        yield finish(first, f"most is {first} {uses[first]}", "no other of them was used so often")
        return
    line = figures(page, "uses?", str(task.param("terms")))
    cells = re.fullmatch(r"(?P<uses>\d+) uses?, (?P<results>\d+) results?, (?P<last>.+)", line)
    if cells is None:
        raise ExpertLost(f"cannot read {line!r} on {page.url}")
    yield finish(cells[fact], f"{task.param('terms')}: {line}", "this line says it")


def best_customer(task: Task, page: Observation) -> Script:
    page = yield from to_report(page, "Customers by Orders")
    page = yield from set_period(page, str(task.param("first")), str(task.param("last")))
    name, numbers = report_lines(page, "orders?")[0]
    fact = str(task.param("fact"))
    if fact == "name":
        yield finish(name, f"{name}: {numbers}", "the first one has the most orders")
        return
    page = yield noted(click(page, "link", "Customers", f"I need the {fact} of {name}"), f"most orders {name}")
    page = yield search(page, name, f"I need to find {name}")
    if fact == "email":
        answer = line_after(page, find(page, "link", name)).split(", ")[0]
    else:
        page = yield click(page, "link", name, "the phone number is on the customer's own page")
        answer = find(page, "textbox", "Phone").value
    yield finish(answer, f"{name} {fact} {answer}", "this is what I was asked for")


def _order_line(page: Observation, number: object) -> dict[str, str]:
    line = line_after(page, find(page, "link", f"Order {number}"))
    cells = re.fullmatch(r"(?P<Date>\w+ \d+, \d{4}), (?P<Customer>[^,]+), (?P<Status>[^,]+), (?P<Total>\S+)", line)
    if cells is None:
        raise ExpertLost(f"cannot read {line!r} on {page.url}")
    return cells.groupdict()


def order_facts(task: Task, page: Observation) -> Script:
    numbers, fact = several(task, "orders"), str(task.param("fact"))
    if fact == "highest":
        yield from _highest_total(page, numbers)
    elif fact == "Tracking":
        yield from _tracking_numbers(page, numbers)
    elif fact in ("Total", "Customer", "Date"):
        page = yield from to_section(page, "Orders")
        page = yield search(page, numbers[0], f"I need to find order {numbers[0]}")
        answer = _order_line(page, numbers[0])[fact]
        yield finish(answer, f"Order {numbers[0]} {fact} {answer}", "the list already shows it")
    else:
        page = yield from to_order(page, numbers[0])
        if fact == "Phone":
            page = yield click(page, "link", "View Customer", "the phone number is on the customer's own page")
            answer = find(page, "textbox", "Phone").value
        else:
            answer = labelled(page, fact)
        yield finish(answer, f"{fact}: {answer}", "the page names what I was asked for")


def _highest_total(page: Observation, numbers: list[str]) -> Script:
    page = yield from to_section(page, "Orders")
    totals: dict[str, float] = {}
    for number in numbers:
        look = search(page, number, f"I need the total of order {number}")
        known = max(totals, key=totals.__getitem__) if totals else ""
        page = yield noted(look, f"highest so far order {known} with {totals[known]:.2f}") if known else look
        totals[number] = float(_order_line(page, number)["Total"].removeprefix("$").replace(",", ""))
    first = max(totals, key=totals.__getitem__)
    yield finish(first, f"highest is order {first} with {totals[first]:.2f}", "no other of them has so high a total")


def _tracking_numbers(page: Observation, numbers: list[str]) -> Script:
    seen: list[str] = []
    for number in numbers:
        if seen:
            leave = click(page, "link", "Orders", "the next order is found in the list")
            page = yield noted(leave, f"tracking {', '.join(seen)}")
        page = yield from to_order(page, number)
        seen.append(labelled(page, "Tracking"))
    yield finish(", ".join(seen), f"Tracking: {seen[-1]}", "I have all of them")


def review_facts(task: Task, page: Observation) -> Script:
    name, fact = str(task.param("search")), str(task.param("fact"))
    page = yield from to_section(page, "Reviews")
    if stars := task.param("stars"):
        page = yield from narrow(page, "Stars", str(stars))
    page = yield search(page, name, f"only the reviews of {name} matter")
    if fact == "count":
        number = labelled(page, "Reviews found")
        yield finish(number, f"Reviews found: {number}", "the page says how many there are")
        return
    links = [element.name for element in page.elements if re.fullmatch(r"Review \d+", element.name)]
    if fact == "names":
        names = [line_after(page, find(page, "link", link)).split(", ")[1] for link in links]
        yield finish(", ".join(names), f"by {', '.join(names)}", "the list shows who wrote them")
        return
    titles: list[str] = []
    for link in links:
        if titles:
            leave = click(page, "link", "Back", "there are more reviews in the list")
            page = yield noted(leave, f"titles {', '.join(titles)}")
        page = yield click(page, "link", link, "the title is on the review's own page")
        titles.append(labelled(page, "Title"))
    yield finish(", ".join(titles), f"Title: {titles[-1]}", "I have read all of them")


def _product_line(page: Observation, name: str) -> dict[str, str]:
    line = line_after(page, find(page, "link", name))
    cells = re.fullmatch(r"(?P<brand>[^,]+), (?P<price>\S+), (?P<stock>\d+) in stock, (?P<status>\w+)", line)
    if cells is None:
        raise ExpertLost(f"cannot read {line!r} on {page.url}")
    return cells.groupdict()


def _first_product(page: Observation) -> str:
    apply = page.elements.index(find(page, "button", "Apply"))
    names = [element.name for element in page.elements[apply + 1 :] if element.role == "link"]
    names = [name for name in names if name not in ("Previous", "Next")]
    if not names:
        raise ExpertLost(f"no product on {page.url}")
    return names[0]


def stock_watch(task: Task, page: Observation) -> Script:
    fact = str(task.param("fact"))
    if fact == "color":
        yield from _colors(page, several(task, "products"))
        return
    page = yield from to_section(page, "Products")
    if "category" in dict(task.params):
        yield from _by_category(task, page)
        return
    stock: dict[str, int] = {}
    for name in several(task, "products"):
        look = search(page, name, f"I need the line of {name}")
        known = max(stock, key=stock.__getitem__) if stock else ""
        page = yield noted(look, f"most so far {known} {stock[known]}") if known else look
        line = _product_line(page, _first_product(page))
        stock[name] = int(line["stock"])
    if fact == "most":
        first = max(stock, key=stock.__getitem__)
        yield finish(first, f"most is {first} {stock[first]}", "no other of them has so many")
        return
    yield finish(line[fact], f"{fact} {line[fact]}", "the list already shows it")


def _colors(page: Observation, names: list[str]) -> Script:
    colors: list[str] = []
    for name in names:
        if colors:
            leave = click(page, "link", "Products", "the next product is found in the list")
            page = yield noted(leave, f"colors {', '.join(colors)}")
        page = yield from to_product(page, name)
        colors.append(find(page, "textbox", "Color").value)
    yield finish(", ".join(colors), f"colors {', '.join(colors)}", "I have seen all of them")


def _by_category(task: Task, page: Observation) -> Script:
    page = yield from narrow(page, "Category", str(task.param("category")))
    page = yield from narrow(page, "Show", str(task.param("show")))
    if task.param("fact") == "dearest":
        page = yield from narrow(page, "Sort by", "Price: high to low")
        page = yield search(page, str(task.param("brand")), "only this brand is asked for")
        name = _first_product(page)
        yield finish(name, f"the first one is {name}", "in this order the first one is the answer")
        return
    page = yield click(page, "button", "Apply", "the list changes only when I apply the settings")
    if task.param("fact") == "count":
        number = labelled(page, "Products found")
        yield finish(number, f"Products found: {number}", "the page says how many there are")
        return
    apply = page.elements.index(find(page, "button", "Apply"))
    names = [element.name for element in page.elements[apply + 1 :] if element.role == "link"]
    yield finish(", ".join(names), f"the list shows {', '.join(names)}", "these are all of them")


def open_grid(task: Task, page: Observation) -> Script:
    section, _, report = str(task.param("section")).partition(" > ")
    page = yield from to_report(page, report) if report else to_section(page, section)
    for name, text in zip(several(task, "fields"), several(task, "texts"), strict=True):
        if name == "Search":
            page = yield search(page, text, "this is what I was asked to look for")
            yield finish("done", "the list is shown")
            return
        if seek(page, "select", name):
            page = yield select(page, name, text, f"{text} was asked for")
        else:
            page = yield fill(page, name, text, "this is the right day")
    page = yield click(page, "button", "Apply", "the list changes only when I apply the settings")
    yield finish("done", "the list is shown")


def missing(task: Task, page: Observation) -> Script:
    section, _, tab = str(task.param("section")).partition(" > ")
    wanted = str(task.param("search"))
    page = yield from to_section(page, section)
    if tab:
        page = yield click(page, "link", tab, f"{tab} have a list of their own")
    needs = task.param("needs")
    if not needs:
        page = yield search(page, wanted, f"I need to find {wanted}")
        if not any(line == f"No {(tab or section).lower()} found." for line in texts(page)):
            raise ExpertLost(f"{wanted} exists on {page.url}")
        yield finish(NOT_POSSIBLE, f"{wanted} is not in the list", "what does not exist cannot be looked up or changed")
        return
    page = yield from _open_order(page, wanted)
    shown = any(element.name == needs for element in page.elements) or any(
        line.startswith(f"{needs}: ") for line in texts(page)
    )
    if shown:
        raise ExpertLost(f"{needs} is there on {page.url}")
    status = labelled(page, "Status")
    yield finish(NOT_POSSIBLE, f"the order is {status}, no {needs}", "the order does not allow this")


def _open_order(page: Observation, number: str) -> Way:
    name = f"Order {number}"
    if seek(page, "link", name) is None:
        page = yield search(page, number, f"I need to find {name}")
    return (yield click(page, "link", name, "its own page says what is possible"))


def newsletter(task: Task, page: Observation) -> Script:
    email, step = str(task.param("email")), str(task.param("step"))
    if page.title != "Newsletter":
        page = yield from to_section(page, "Customers")
        page = yield click(page, "link", "Newsletter", "the subscribers have a list of their own")
    if step == "add":
        page = yield fill(page, "New subscriber", email, "this address is to be added")
        page = yield click(page, "button", "Add", "the address is typed in")
        yield finish("done", "the subscriber is added")
        return
    page = yield search(page, email, f"I need to find {email}")
    if step == "since":
        answer = line_after(page, find(page, "link", email))
        yield finish(answer, f"{email} {answer}", "the list shows the date")
        return
    page = yield click(page, "link", email, "the button is on the subscriber's own page")
    page = yield click(page, "button", "Remove", "this is what I was asked to do")
    yield finish("done", "the subscriber is removed")
