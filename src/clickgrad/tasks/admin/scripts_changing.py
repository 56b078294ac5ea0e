"""How the templates that change something are done."""

from __future__ import annotations

from clickgrad.tasks.admin.ways import open_row, rows, several, to_customer, to_order, to_product, to_section
from clickgrad.tasks.moves import Script, Way, click, fill, find, finish, search, seek, select
from clickgrad.types import Observation, Task

SAVE_WHY = "nothing is kept until I save"


def order_status(task: Task, page: Observation) -> Script:
    for number, step in zip(several(task, "orders"), several(task, "steps"), strict=True):
        page = yield from to_order(page, number)
        page = yield click(page, "button", step, "this is what I was asked to do")
    yield finish("done", f"{step} is done")


def ship_order(task: Task, page: Observation) -> Script:
    parcels = zip(several(task, "orders"), several(task, "carriers"), several(task, "numbers"), strict=True)
    for order, carrier, number in parcels:
        if page.title != f"Ship Order {order}":
            page = yield from to_order(page, order)
            page = yield click(page, "link", "Ship", "the shipment has a form of its own")
        page = yield select(page, "Carrier", carrier, "this carrier was asked for")
        page = yield fill(page, "Tracking number", number, "this number was asked for")
        page = yield click(page, "button", "Save Shipment", "the form is complete")
    yield finish("done", "the shipment is saved")


def note_order(task: Task, page: Observation) -> Script:
    for order in several(task, "orders"):
        if page.title != f"Note on Order {order}":
            page = yield from to_order(page, order)
            if task.param("hold"):
                page = yield click(page, "button", "Hold", "the order is to be put on hold")
            page = yield click(page, "link", "Add Note", "the note has a form of its own")
        page = yield fill(page, "Note", str(task.param("text")), "this text was asked for")
        if task.param("notify"):
            page = yield click(page, "checkbox", "Notify customer by email", "the customer is to be told")
        page = yield click(page, "button", "Save Note", SAVE_WHY)
    yield finish("done", "the note is saved")


def handle_return(task: Task, page: Observation) -> Script:
    cases = zip(several(task, "orders"), several(task, "products"), several(task, "steps"), strict=True)
    for index, (order, product, step) in enumerate(cases):
        if index or not page.title.startswith("Return "):
            page = yield from _to_return(page, order, product)
        page = yield click(page, "button", step, "this is what I was asked to do")
    yield finish("done", "the return is decided")


def _to_return(page: Observation, order: str, product: str) -> Way:
    if page.title.startswith("Return "):
        page = yield click(page, "link", "Back", "the next return is found in the list")
    else:
        page = yield from to_section(page, "Orders")
        page = yield click(page, "link", "Returns", "the returns have a list of their own")
    page = yield search(page, order, f"I need the return from order {order}")
    return (yield open_row(page, "Return", (f"Order {order}", product), "the buttons are on its own page"))


def moderate_reviews(task: Task, page: Observation) -> Script:
    for index, (product, step) in enumerate(zip(several(task, "products"), several(task, "steps"), strict=True)):
        if not index and page.title.startswith("Review "):
            page = yield from _decide(page, step)
            continue
        page = yield from to_section(page, "Reviews")
        page = yield search(page, product, f"I need the pending reviews of {product}")
        pending = rows(page, "Review", "Pending")
        for name in pending if task.param("all") else pending[:1]:
            if seek(page, "link", name) is None:
                page = yield click(page, "link", "Back", f"{name} waits, too")
            page = yield click(page, "link", name, "it waits for a decision; the buttons are on its own page")
            page = yield from _decide(page, step)
    yield finish("done", "all is decided")


def _decide(page: Observation, step: str) -> Way:
    if step != "Delete":
        return (yield click(page, "button", step, "this is what I was asked to do"))
    page = yield click(page, "link", "Delete", "this is what I was asked to do")
    return (yield click(page, "button", "Delete Review", "I am sure, it was asked for"))


def update_product(task: Task, page: Observation) -> Script:
    product = str(task.param("product"))
    if seek(page, "link", product):
        page = yield click(page, "link", product, "I need the form of this product")
    else:
        page = yield from to_product(page, product)
    for name, text in zip(several(task, "fields"), several(task, "texts"), strict=True):
        page = yield fill(page, name, text, f"this {name.lower()} was asked for")
    page = yield click(page, "button", "Save", SAVE_WHY)
    yield finish("done", "the product is saved")


def update_products(task: Task, page: Observation) -> Script:
    names, change, texts = several(task, "products"), str(task.param("change")), several(task, "texts")
    page = yield from to_section(page, "Products")
    if kind := task.param("search"):
        page = yield search(page, str(kind), f"I need all products named {kind}")
        texts = texts * len(names)
    for name, text in zip(names, texts, strict=True):
        if seek(page, "link", "Back"):
            page = yield click(page, "link", "Back", f"{name} is found in the list")
        if not kind:
            page = yield search(page, name, f"I need to find {name}")
        page = yield click(page, "link", name, "I need the form of this product")
        if change in ("disable", "feature"):
            label = {"disable": "Enabled", "feature": "Featured"}[change]
            page = yield click(page, "checkbox", label, "this is what I was asked to change")
        else:
            page = yield fill(page, change.capitalize(), text, f"this {change} was asked for")
        page = yield click(page, "button", "Save", SAVE_WHY)
    yield finish("done", "all of them are saved")


def new_product(task: Task, page: Observation) -> Script:
    if page.title != "New Product":
        page = yield from to_section(page, "Products")
        page = yield click(page, "link", "New Product", "a new product has a form of its own")
    page = yield fill(page, "Name", str(task.param("name")), "this name was asked for")
    page = yield select(page, "Category", str(task.param("category")), "it belongs to this category")
    for name in ("Brand", "SKU", "Price", "Stock", "Color", "Description"):
        page = yield fill(page, name, str(task.param(name.lower())), f"this {name} was asked for")
    page = yield click(page, "button", "Save", SAVE_WHY)
    yield finish("done", "the product is saved")


def edit_customer(task: Task, page: Observation) -> Script:
    for customer in several(task, "customers"):
        page = yield from to_customer(page, customer)
        for name, text in zip(several(task, "fields"), several(task, "texts"), strict=True):
            why = f"this {name.lower()} was asked for"
            page = yield select(page, name, text, why) if name == "Group" else fill(page, name, text, why)
        page = yield click(page, "button", "Save", SAVE_WHY)
    yield finish("done", "the customer is saved")


def promotion(task: Task, page: Observation) -> Script:
    change = str(task.param("change"))
    if change == "new":
        yield from _new_promotion(task, page)
        return
    name, code = str(task.param("promotion")), str(task.param("code"))
    if page.title != name:
        page = yield from to_section(page, "Promotions")
        page = yield search(page, code, f"I need the promotion with the code {code}")
        page = yield click(page, "link", name, "I need the form of this promotion")
    if change == "Active":
        page = yield click(page, "checkbox", "Active", "this is what I was asked to change")
    else:
        page = yield fill(page, change, str(task.param("text")), "this was asked for")
    page = yield click(page, "button", "Save", SAVE_WHY)
    yield finish("done", "the promotion is saved")


def _new_promotion(task: Task, page: Observation) -> Script:
    if page.title != "New Promotion":
        page = yield from to_section(page, "Promotions")
        page = yield click(page, "link", "New Promotion", "a new promotion has a form of its own")
    page = yield fill(page, "Name", str(task.param("name")), "this name was asked for")
    page = yield fill(page, "Code", str(task.param("code")), "this code was asked for")
    kind = str(task.param("kind"))
    if find(page, "select", "Kind").value != kind:
        page = yield select(page, "Kind", kind, "this kind was asked for")
    if kind != "Free shipping":
        page = yield fill(page, "Amount", str(task.param("amount")), "this amount was asked for")
    page = yield fill(page, "Starts", str(task.param("starts")), "it begins on this day")
    page = yield fill(page, "Ends", str(task.param("ends")), "it ends on this day")
    page = yield click(page, "button", "Save", SAVE_WHY)
    yield finish("done", "the promotion is saved")


def content_page(task: Task, page: Observation) -> Script:
    change, name, text = str(task.param("change")), str(task.param("page")), str(task.param("text"))
    if change == "new":
        page = yield from _new_page(task, page)
        if replaced := task.param("replaced"):
            page = yield from _change_page(page, str(replaced), "Status", "Draft")
    else:
        page = yield from _change_page(page, name, change, text)
    yield finish("done", "the page is saved")


def _change_page(page: Observation, name: str, change: str, text: str) -> Way:
    if page.title != name:
        page = yield from to_section(page, "Pages")
        page = yield search(page, name, f"I need the page {name}")
        page = yield click(page, "link", name, "I need the form of this page")
    why = f"this {change.lower()} was asked for"
    page = yield select(page, change, text, why) if change == "Status" else fill(page, change, text, why)
    return (yield click(page, "button", "Save", SAVE_WHY))


def _new_page(task: Task, page: Observation) -> Way:
    page = yield from to_section(page, "Pages")
    page = yield click(page, "link", "New Page", "a new page has a form of its own")
    page = yield fill(page, "Title", str(task.param("page")), "this title was asked for")
    page = yield fill(page, "Address", str(task.param("address")), "this address was asked for")
    if find(page, "select", "Status").value != task.param("status"):
        page = yield select(page, "Status", str(task.param("status")), "this status was asked for")
    page = yield fill(page, "Content", str(task.param("text")), "this content was asked for")
    return (yield click(page, "button", "Save", SAVE_WHY))


def change_setting(task: Task, page: Observation) -> Script:
    page = yield from to_section(page, "Settings")
    for name, text in zip(several(task, "fields"), several(task, "texts"), strict=True):
        page = yield fill(page, name, text, f"this is the new value of {name}")
    page = yield click(page, "button", "Save", SAVE_WHY)
    yield finish("done", "the settings are saved")
