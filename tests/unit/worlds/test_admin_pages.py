import re
from collections.abc import Iterator
from html import unescape

import httpx
import pytest
from site_clients import OpenSite, site_clients

from clickgrad.types import RowChange
from clickgrad.worlds import Arena, World
from clickgrad.worlds.people import DEFAULT_USER
from clickgrad.worlds.shop.data import shop_data

DATA = shop_data(0)
STAFF = {member.role: member for member in DATA.staff}
ORDERS = {
    status: next(one for one in DATA.orders if one.status == status) for status in {o.status for o in DATA.orders}
}
PENDING = next(review for review in DATA.reviews if review.status == "Pending")
REQUESTED = next(return_ for return_ in DATA.returns if return_.status == "Requested")
JUNK = ("", " ", "abc", "-1", "0", "1.5", "1e3", "²", "9" * 400, "'; DROP TABLE orders;--", "<b>\x00\n", "💥", "NaN")
LISTS = (
    "/orders", "/products", "/customers", "/reviews", "/returns", "/promotions", "/pages", "/newsletter", "/messages",
    "/reports/bestsellers", "/reports/sales", "/reports/search-terms", "/reports/customers", "/reports/low-stock",
    "/reports/reviews",
)  # fmt: skip
# a form -> what it is filled in with to be accepted
FORMS: dict[str, dict[str, str]] = {
    f"/orders/{ORDERS['Processing'].id}/ship": {"carrier": "UPS", "tracking": "UP1"},
    f"/orders/{ORDERS['Shipped'].id}/note": {"text": "Hello."},
    "/products/1": {
        "name": "Blue Lamp", "price": "12.50", "stock": "7", "color": "Blue", "sizes": "Small, Large",
        "description": "A lamp.", "featured": "1", "enabled": "1",
    },
    "/products/new": {
        "name": "Blue Lamp", "price": "12.50", "stock": "7", "color": "Blue", "description": "A lamp.",
        "brand": "Acorn", "sku": "BL-1", "category": "Kitchen", "enabled": "1",
    },
    "/customers/2": {"name": "Ann Smith", "phone": "555-0000", "group": "VIP"},
    "/newsletter": {"email": "new@example.com"},
    "/promotions/1": {
        "name": "Sale", "code": "SALE99", "kind": "Fixed", "amount": "5", "starts": "2025-01-01", "ends": "2025-02-01",
    },
    "/promotions/new": {
        "name": "Sale", "code": "SALE99", "kind": "Percent", "amount": "5", "starts": "2025-01-01",
        "ends": "2025-02-01", "active": "1",
    },
    "/pages/1": {"title": "Us", "slug": "us", "content": "Hello.", "status": "Draft"},
    "/pages/new": {"title": "Us & Them", "slug": "", "content": "Hello.", "status": "Published"},
    "/settings": {f"setting-{setting.id}": setting.value for setting in DATA.settings} | {"setting-1": "My Shop"},
}  # fmt: skip


@pytest.fixture
def open_admin(arena: Arena) -> Iterator[OpenSite]:
    with site_clients(arena, "admin.localhost") as opened:
        yield opened


@pytest.fixture
def admin(world: World, open_admin: OpenSite) -> httpx.Client:
    return open_admin(world)


def update(table: str, key: int, **values: object) -> RowChange:
    return RowChange(table, "update", tuple(values.items()), key)  # type: ignore[arg-type]


def changed(world: World, **named: object) -> list[tuple[str, str]]:
    """(table, operation) of every change; each named column must hold its value."""
    found = world.diff()
    values = {name: value for change in found for name, value in change.values}
    assert {name: values.get(name) for name in named} == named
    return [(change.table, change.op) for change in found]


def links(page: httpx.Response, kind: str) -> list[str]:
    return re.findall(rf'<a href="/{kind}/\d+[^"]*">([^<]+)</a>', page.text)


def test_only_staff_gets_in(world: World, open_admin: OpenSite) -> None:
    visitor = open_admin(world, None)
    assert "<h1>Log In</h1>" in visitor.get("/").text
    for path in (*LISTS, "/settings", "/account", "/orders/1001", "/products/new"):
        assert visitor.get(path).headers["location"].startswith("/login?next=")
    for path in FORMS:
        assert visitor.post(path, data=FORMS[path]).status_code == 303
    customer = next(one for one in DATA.customers if one.email not in {member.email for member in DATA.staff})
    assert visitor.post("/login", data={"login": customer.email, "password": customer.password}).status_code == 422
    assert not [cookie for cookie in world.login(customer.email) if cookie.host == "admin.localhost"]
    assert world.diff() == ()


@pytest.mark.parametrize("login", [DEFAULT_USER, "Emma.Lopez", "EMMA.LOPEZ@example.com"])
def test_log_in_and_out_work(world: World, open_admin: OpenSite, login: str) -> None:
    visitor = open_admin(world, None)
    wrong = visitor.post("/login", data={"login": login, "password": "guess"})
    assert (wrong.status_code, "The user name or the password is wrong." in wrong.text) == (422, True)
    form = {"login": login, "password": STAFF["Owner"].password, "next": "/reports"}
    right = visitor.post("/login", data=form)
    assert right.headers["location"] == "/reports"
    # httpx files the cookie under the address, not the Host header, so it is carried over by hand.
    visitor.headers["cookie"] = right.headers["set-cookie"].partition(";")[0]
    assert "Role: </span>Owner" in visitor.get("/account").text
    left = visitor.post("/logout")
    visitor.headers["cookie"] = left.headers["set-cookie"].partition(";")[0]
    assert visitor.get("/account").status_code == 303


def test_settings_are_for_owners_and_managers(world: World, open_admin: OpenSite) -> None:
    for role, member in STAFF.items():
        client = open_admin(world, member.email)
        allowed = role in ("Owner", "Manager")
        assert client.get("/settings").status_code == (200 if allowed else 403)
        assert client.get("/orders").status_code == 200
    assert open_admin(world, STAFF["Editor"].email).post("/settings", data=FORMS["/settings"]).status_code == 403
    assert world.diff() == ()


@pytest.mark.parametrize(
    "path",
    ["/nope", "/orders/1", "/orders/x", "/orders/99999999999999999999", "/products/0", "/customers/999", "/reviews/0",
     "/returns/0", "/promotions/99", "/pages/99", "/newsletter/0", "/messages/0", "/reports/nope", "/orders/1001/",
     "/%00", "/..%2f..%2fetc"],
)  # fmt: skip
def test_unknown_addresses_are_not_found(admin: httpx.Client, path: str) -> None:
    assert admin.get(path).status_code == 404


def test_unknown_steps_are_not_found(world: World, admin: httpx.Client) -> None:
    for path in ("/orders/1001/burn", "/reviews/1/burn", "/returns/1/burn"):
        assert admin.post(path).status_code == 404
    assert world.diff() == ()


@pytest.mark.parametrize("junk", JUNK)
def test_junk_in_the_address_never_breaks_a_list(admin: httpx.Client, junk: str) -> None:
    for path in LISTS:
        names = (
            "q",
            "status",
            "from",
            "to",
            "sort",
            "page",
            "category",
            "show",
            "group",
            "stars",
            "by",
            "done",
            "back",
        )
        assert admin.get(path, params=dict.fromkeys(names, junk)).status_code == 200, path


@pytest.mark.parametrize("path", FORMS)
def test_junk_in_any_field_is_borne_and_an_empty_form_is_refused(admin: httpx.Client, path: str) -> None:
    for index, name in enumerate(FORMS[path]):
        for junk in JUNK[index % 3 :: 3]:
            answer = admin.post(path, data=FORMS[path] | {name: junk})
            # 409: junk may be a fine tracking number, and an order is shipped once.
            assert answer.status_code in (303, 422) or path.endswith("/ship"), (name, junk)
    if path.endswith("/ship"):
        return
    fresh = admin.post(path, data={})
    assert fresh.status_code == 422
    assert 'aria-describedby="' in fresh.text
    assert 'class="error"' in fresh.text


@pytest.mark.parametrize(
    ("path", "form", "message"),
    [
        ("/products/1", {"price": "free"}, "Enter a price such as 25 or 25.50."),
        ("/products/1", {"stock": "-2"}, "Enter a whole number from 0 to 100000."),
        ("/products/1", {"name": DATA.products[1].name}, "Another product has this name."),
        ("/products/1", {"sizes": "Small,,Large"}, "Separate the sizes by commas."),
        ("/products/new", {"sku": DATA.products[1].sku}, "Another product has this SKU."),
        ("/products/new", {"category": "Food"}, "Choose a category."),
        ("/customers/2", {"phone": "call me"}, "Enter a phone number such as 555-0100."),
        ("/customers/2", {"group": "Gold"}, "Choose a group."),
        ("/newsletter", {"email": DATA.subscribers[0].email}, "This address already gets the newsletter."),
        ("/promotions/new", {"code": "WELCOME10"}, "Another promotion has this code."),
        ("/promotions/new", {"ends": "2024-12-31"}, "The end must not be before the start."),
        ("/promotions/new", {"amount": "101"}, "Enter a whole number from 1 to 100."),
        ("/pages/new", {"slug": "about-us"}, "Another page has this address."),
        ("/pages/1", {"content": "x" * 2001}, "Use at most 2000 characters."),
        ("/settings", {"setting-2": "nobody"}, "Enter an email address such as name@example.com."),
        ("/settings", {"setting-6": "many"}, "Enter a whole number from 0 to 1000."),
    ],
)
def test_a_bad_value_is_told_beside_its_field_and_nothing_is_saved(
    world: World, admin: httpx.Client, path: str, form: dict[str, str], message: str
) -> None:
    page = admin.post(path, data=FORMS[path] | form)
    (name,) = form
    assert page.status_code == 422
    assert f'<p class="error" id="{name}-error">{message}</p>' in page.text
    assert world.diff() == ()


def test_each_form_changes_exactly_its_rows(arena: Arena, open_admin: OpenSite) -> None:
    expected = {
        f"/orders/{ORDERS['Processing'].id}/ship": [("orders", "update"), ("shipments", "insert")],
        f"/orders/{ORDERS['Shipped'].id}/note": [("order_notes", "insert")],
        "/products/1": [("products", "update")],
        "/products/new": [("products", "insert")],
        "/customers/2": [("customers", "update")],
        "/newsletter": [("subscribers", "insert")],
        "/promotions/1": [("promotions", "update")],
        "/promotions/new": [("promotions", "insert")],
        "/pages/1": [("cms_pages", "update")],
        "/pages/new": [("cms_pages", "insert")],
        "/settings": [("settings", "update")],
    }
    named: dict[str, dict[str, object]] = {
        "/products/1": {"price_cents": 1250, "stock": 7, "sizes": "Small,Large", "featured": 0, "name": "Blue Lamp"},
        "/products/new": {"category_id": 1, "featured": 0, "enabled": 1, "sizes": "", "created": "2025-03-14"},
        "/promotions/1": {"kind": "Fixed", "amount": 500, "active": 0},
        "/pages/1": {"slug": "us", "status": "Draft", "updated": "2025-03-14"},
        "/pages/new": {"slug": "us-them", "updated": "2025-03-14"},
        "/settings": {"value": "My Shop"},
    }
    # The first product is featured: unticking it is a change, ticking it is none.
    forms = FORMS | {"/products/1": FORMS["/products/1"] | {"featured": ""}}
    for path, form in forms.items():
        world = arena.fork()
        client = open_admin(world)
        answer = client.post(path, data=form)
        assert answer.status_code == 303, path
        assert changed(world, **named.get(path, {})) == expected[path]
        assert 'class="notice"' in client.get(answer.headers["location"]).text
        world.close()


def test_saving_a_form_as_it_opened_changes_nothing(world: World, admin: httpx.Client) -> None:
    for path in (
        "/products/1",
        "/customers/2",
        "/promotions/1",
        "/promotions/4",
        "/promotions/6",
        "/pages/1",
        "/settings",
    ):
        page = admin.get(path).text
        fields = dict(re.findall(r'<input id="[^"]+" name="([^"]+)" type="(?:text|date)"[^>]* value="([^"]*)"', page))
        fields |= dict.fromkeys(re.findall(r'name="([^"]+)" type="checkbox" value="1" checked', page), "1")
        fields |= dict(re.findall(r'<textarea id="[^"]+" name="([^"]+)"[^>]*>\n([^<]*)</textarea>', page))
        for name, options in re.findall(r'<select id="[^"]+" name="([^"]+)">(.*?)</select>', page, re.S):
            fields[name] = re.findall(r"<option selected>([^<]+)<", options)[0]
        form = {name: unescape(value) for name, value in fields.items()}
        assert admin.post(path, data=form).status_code == 303, path
        assert world.diff() == (), path


@pytest.mark.parametrize(
    ("status", "step", "after"),
    [("Processing", "hold", "On Hold"), ("On Hold", "unhold", "Processing"), ("Processing", "cancel", "Cancelled"),
     ("On Hold", "cancel", "Cancelled"), ("Shipped", "deliver", "Delivered")],
)  # fmt: skip
def test_orders_take_only_sensible_steps(world: World, admin: httpx.Client, status: str, step: str, after: str) -> None:
    order = ORDERS[status].id
    assert admin.post(f"/orders/{order}/{step}").headers["location"].startswith(f"/orders/{order}?done=")
    assert world.diff() == (update("orders", order, status=after),)
    assert admin.post(f"/orders/{order}/{step}").status_code == 409
    assert admin.post(f"/orders/{ORDERS['Delivered'].id}/{step}").status_code == 409
    assert world.diff() == (update("orders", order, status=after),)


def test_only_orders_in_processing_can_be_shipped(world: World, admin: httpx.Client) -> None:
    for status, order in ORDERS.items():
        page = admin.get(f"/orders/{order.id}/ship")
        assert page.status_code == (200 if status == "Processing" else 409)
        assert (">Ship</a>" in admin.get(f"/orders/{order.id}").text) == (status == "Processing")
    assert (
        admin.post(f"/orders/{ORDERS['Cancelled'].id}/ship", data={"carrier": "UPS", "tracking": "1"}).status_code
        == 409
    )
    assert world.diff() == ()


def test_a_note_is_shown_with_its_author_escaped(admin: httpx.Client) -> None:
    admin.post("/orders/1001/note", data={"text": "<b>Hi</b>", "notify": "1"})
    assert "March 14, 2025, Emma Lopez, customer told: &lt;b&gt;Hi&lt;/b&gt;" in admin.get("/orders/1001").text


def test_reviews_and_returns_are_decided(world: World, admin: httpx.Client) -> None:
    admin.post(f"/reviews/{PENDING.id}/approve")
    assert world.diff() == (update("reviews", PENDING.id, status="Approved"),)
    admin.post(f"/reviews/{PENDING.id}/reject")
    assert world.diff() == (update("reviews", PENDING.id, status="Rejected"),)
    assert admin.get(f"/reviews/{PENDING.id}/delete").status_code == 200
    gone = admin.post(f"/reviews/{PENDING.id}/delete?back=/reviews?stars=1")
    assert gone.headers["location"] == "/reviews?stars=1&done=deleted"
    assert changed(world) == [("reviews", "delete")]
    admin.post(f"/returns/{REQUESTED.id}/refuse")
    assert world.diff()[0] == update("returns", REQUESTED.id, status="Refused")
    assert changed(world) == [("returns", "update"), ("reviews", "delete")]
    assert admin.post(f"/returns/{REQUESTED.id}/approve").status_code == 409


def test_a_subscriber_is_removed(world: World, admin: httpx.Client) -> None:
    assert admin.post("/newsletter/3/remove").headers["location"] == "/newsletter?done=removed"
    assert changed(world, id=3) == [("subscribers", "delete")]


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil.example", "/a\nb"])
def test_the_way_back_never_leads_to_another_site(admin: httpx.Client, target: str) -> None:
    page = admin.get("/reviews/1", params={"back": target})
    assert re.search(r'<a href="(/[^/\\"]*)" class="button quiet">Back</a>', page.text)
    assert admin.post("/newsletter/3/remove", params={"back": target}).headers["location"] == "/?done=removed"


def test_lists_are_searched_narrowed_sorted_and_paged(admin: httpx.Client) -> None:
    order = DATA.orders[500]
    assert links(admin.get(f"/orders?q={order.id}"), "orders") == [f"Order {order.id}"]
    held = sum(one.status == "On Hold" for one in DATA.orders)
    assert f"Orders found: {held}<" in admin.get("/orders?status=On+Hold").text
    june = [one for one in DATA.orders if one.created.startswith("2024-06")]
    dearest = max(june, key=lambda one: (one.total_cents, -one.id))
    page = admin.get("/orders?from=2024-06-01&to=2024-06-30&sort=total_desc")
    assert f"Orders found: {len(june)}<" in page.text
    assert links(page, "orders")[0] == f"Order {dearest.id}"
    assert "Enter a date such as 2025-03-04." in admin.get("/orders?from=June").text
    low = sorted(one.name for one in DATA.products if one.enabled and one.stock <= 12 and one.category_id == 1)
    assert links(admin.get("/products?category=kitchen&show=low"), "products") == low
    vips = sorted(one.name for one in DATA.customers if one.customer_group == "VIP")
    assert links(admin.get("/customers?group=VIP&page=2"), "customers") == vips[6:12]
    assert all("Pending" in row for row in re.findall(r"<tr><td>.*?</tr>", admin.get("/reviews").text))


def test_reports_leave_cancelled_orders_out(admin: httpx.Client) -> None:
    kept = [one for one in DATA.orders if one.status != "Cancelled"]
    total = f"${sum(one.total_cents for one in kept) / 100:,.2f}"
    assert f"All together: {len(kept)} orders, {total}<" in admin.get("/reports/sales").text
    assert total in admin.get("/").text
    pieces: dict[int, int] = {}
    counted = {one.id for one in kept if one.created.startswith("2025-02")}
    for item in DATA.order_items:
        if item.order_id in counted:
            pieces[item.product_id] = pieces.get(item.product_id, 0) + item.quantity
    first = max(pieces, key=lambda id_: pieces[id_])
    name = next(one.name for one in DATA.products if one.id == first)
    page = admin.get("/reports/bestsellers?from=2025-02-01&to=2025-02-28")
    assert re.findall(r"<li><span>([^<]+): </span><span>(\d+) sold", page.text)[0] == (name, str(pieces[first]))


def test_the_low_stock_limit_is_what_the_settings_say(admin: httpx.Client) -> None:
    admin.post("/settings", data=FORMS["/settings"] | {"setting-6": "0"})
    empty = sum(one.enabled and one.stock == 0 for one in DATA.products)
    assert f"Products found: {empty}<" in admin.get("/products?show=low").text
    assert "Products with 0 or fewer in stock." in admin.get("/reports/low-stock").text


def test_equal_histories_give_equal_pages(arena: Arena, open_admin: OpenSite) -> None:
    seen = []
    for _ in range(2):
        world = arena.fork()
        client = open_admin(world)
        for path, form in FORMS.items():
            client.post(path, data=form)
        client.post(f"/orders/{ORDERS['On Hold'].id}/cancel")
        seen.append([client.get(path).content for path in ("/", *LISTS, "/products/1", "/orders/1001", "/settings")])
        world.close()
    assert seen[0] == seen[1]


def test_pages_stay_short_enough_to_read(admin: httpx.Client) -> None:
    order = max(DATA.orders, key=lambda one: sum(item.order_id == one.id for item in DATA.order_items))
    for path in ("/", *LISTS, f"/orders/{order.id}", "/products/1", "/products/new", "/settings", "/customers/1"):
        page = admin.get(path).text
        assert len(re.findall(r"<(?:a|button|input|select|textarea|p|li|h1|h2|tr)\b", page)) <= 42, path
        assert len(re.findall(r"<a href", page.partition("<main")[0].partition("<nav")[2])) == 10


def test_forms_too_large_or_malformed_are_refused(admin: httpx.Client) -> None:
    assert admin.post("/pages/1", data={"content": "x" * 70_000}).status_code == 413
    assert admin.post("/pages/1", content=b"\xff\xfe=%zz&&=&").status_code == 422
    assert admin.request("DELETE", "/orders").status_code == 405
