import re
from collections.abc import Callable, Mapping
from html import unescape

import httpx
import pytest

from clickgrad.worlds import World
from clickgrad.worlds.shop.data import DEFAULT_USER, shop_data

OpenShop = Callable[..., httpx.Client]
DATA = shop_data(0)
EMMA_ORDER = next(order for order in DATA.orders if order.customer_id == 1)
JUNK = ("", " ", "abc", "-1", "0", "1.5", "1e3", "²", "9" * 400, "'; DROP TABLE orders;--", "<b>\x00\n", "💥", "NaN")


def product_names(page: httpx.Response) -> list[str]:
    return re.findall(r'<a href="/product/\d+">([^<]+)</a>', page.text)


def prices(page: httpx.Response) -> list[float]:
    return [float(price) for price in re.findall(r"<p>\$([\d.]+), ", page.text)]


def test_the_shop_holds_what_a_small_shop_holds() -> None:
    assert len(DATA.categories) == 8
    assert len(DATA.products) == len({item.name for item in DATA.products}) == 240
    assert len(DATA.customers) == len({customer.email for customer in DATA.customers}) == 72
    assert len(DATA.orders) == 240
    assert sum(order.customer_id == 1 for order in DATA.orders) == 12
    assert {order.status for order in DATA.orders} == {"Processing", "Shipped", "Delivered", "Cancelled"}
    assert 350 <= len(DATA.reviews) <= 450


def test_orders_add_up() -> None:
    shipping = {"Standard": 400, "Express": 900, "Next Day": 1500}
    for order in DATA.orders:
        goods = sum(item.quantity * item.price_cents for item in DATA.order_items if item.order_id == order.id)
        assert order.total_cents == goods + shipping[order.shipping_method]


def test_lists_are_sorted_filtered_and_paged(shop: httpx.Client) -> None:
    cheap = shop.get("/category/kitchen?sort=price_asc")
    assert len(product_names(cheap)) == 6
    assert prices(cheap) == sorted(prices(cheap))
    assert prices(shop.get("/category/kitchen?sort=price_desc"))[0] == max(
        item.price_cents / 100 for item in DATA.products if item.category_id == 1
    )
    brand = next(item.brand for item in DATA.products if item.category_id == 1)
    own = {item.name for item in DATA.products if item.category_id == 1 and item.brand == brand}
    assert set(product_names(shop.get(f"/category/kitchen?brand={brand}"))) == own
    assert max(prices(shop.get("/category/kitchen?max=20&sort=price_desc"))) <= 20

    seen: list[str] = []
    url = "/category/kitchen"
    while url:
        page = shop.get(url)
        seen += product_names(page)
        following = re.search(r'<a href="([^"]+)">Next</a>', page.text)
        url = unescape(following[1]) if following else ""
    assert seen == sorted(item.name for item in DATA.products if item.category_id == 1)


def test_search_finds_a_product_by_its_full_name_and_nothing_else(shop: httpx.Client) -> None:
    for item in DATA.products[::17]:
        assert product_names(shop.get("/search", params={"q": item.name.lower()})) == [item.name]
    assert "No products found." in shop.get("/search?q=unicorn").text


@pytest.mark.parametrize("junk", JUNK)
def test_junk_in_the_address_never_breaks_a_list(shop: httpx.Client, junk: str) -> None:
    for name in ("q", "sort", "brand", "max", "page"):
        assert shop.get("/category/kitchen", params={name: junk}).status_code == 200
        assert shop.get("/search", params={"q": "steel", name: junk}).status_code == 200
        assert shop.get("/orders", params={name: junk}).status_code == 200


def test_a_bad_price_limit_says_so_beside_the_field(shop: httpx.Client) -> None:
    page = shop.get("/category/kitchen?max=cheap")
    assert "Enter a price such as 25." in page.text
    assert 'aria-describedby="max-error"' in page.text


UNKNOWN = ("/nope", "/product/0", "/product/x", "/product/99999999999999999999", "/product/1/", "/orders/9", "/cart/1")


@pytest.mark.parametrize("path", [*UNKNOWN, "/category/none", "/fork", "/%00", "/..%2f..%2fetc"])
def test_unknown_addresses_are_not_found(shop: httpx.Client, path: str) -> None:
    assert shop.get(path).status_code == 404


def test_anothers_order_is_forbidden_and_not_shown(shop: httpx.Client) -> None:
    other = next(order for order in DATA.orders if order.customer_id != 1)
    page = shop.get(f"/orders/{other.id}")
    assert page.status_code == 403
    assert other.payment_method not in page.text
    assert shop.get(f"/orders/{EMMA_ORDER.id}").status_code == 200


def test_anothers_cart_cannot_be_touched(world: World, shop: httpx.Client) -> None:
    item = DATA.cart_items[0]
    assert shop.post(f"/cart/{item.id}/remove").status_code == 404
    assert shop.post(f"/cart/{item.id}/update", data={"quantity": "2"}).status_code == 404
    assert world.diff() == ()


@pytest.mark.parametrize("quantity", [*JUNK, "61"])
def test_a_bad_quantity_is_told_and_nothing_is_saved(world: World, shop: httpx.Client, quantity: str) -> None:
    page = shop.post("/product/1/cart", data={"quantity": quantity})
    assert page.status_code == 422
    assert f"Enter a number from 1 to {DATA.products[0].stock}." in page.text
    assert world.diff() == ()


def test_a_cart_never_holds_more_than_the_stock(world: World, shop: httpx.Client) -> None:
    stock = DATA.products[0].stock
    shop.post("/product/1/cart", data={"quantity": str(stock - 1)})
    assert shop.post("/product/1/cart", data={"quantity": "2"}).status_code == 422
    assert shop.post("/product/1/cart", data={"quantity": "1"}).status_code == 303
    assert world.query("SELECT quantity FROM cart_items WHERE customer_id = 1") == ((stock,),)


def test_a_sold_out_product_cannot_be_bought(world: World, shop: httpx.Client) -> None:
    sold_out = next(item for item in DATA.products if item.stock == 0)
    page = shop.post(f"/product/{sold_out.id}/cart", data={"quantity": "1"})
    assert page.status_code == 422
    assert "No more of this product are left." in page.text
    assert world.diff() == ()


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"title": "Good"}, "Choose from 1 to 5 stars."),
        ({"stars": "6", "title": "Good"}, "Choose from 1 to 5 stars."),
        ({"stars": "3", "title": "   "}, "Enter a title."),
        ({"stars": "3", "title": "x" * 81}, "Use at most 80 characters."),
        ({"stars": "3", "title": "Good", "text": "x" * 1001}, "Use at most 1000 characters."),
    ],
)
def test_a_bad_review_is_told_and_keeps_what_was_typed(
    world: World, shop: httpx.Client, form: Mapping[str, str], message: str
) -> None:
    page = shop.post("/product/1/review", data=form)
    assert page.status_code == 422
    assert message in page.text
    assert form.get("title", "").strip() in page.text
    assert world.diff() == ()


def test_a_review_is_shown_escaped_and_counts_in_the_rating(shop: httpx.Client) -> None:
    item = next(item for item in DATA.products if not any(review.product_id == item.id for review in DATA.reviews))
    shop.post(f"/product/{item.id}/review", data={"stars": "4", "title": "<script>alert(1)</script>"})
    page = shop.get(f"/product/{item.id}")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
    assert ", 4 stars</p>" in page.text
    assert "4 stars, Emma: " in page.text


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"payment": "Gift Card"}, "Choose a shipping method."),
        ({"shipping": "Rocket", "payment": "Gift Card"}, "Choose a shipping method."),
        ({"shipping": "Express", "payment": "Beads"}, "Choose a payment method."),
    ],
)
def test_a_bad_checkout_is_told_and_nothing_is_ordered(
    world: World, open_shop: OpenShop, form: Mapping[str, str], message: str
) -> None:
    page = open_shop(world, DATA.customers[1].email).post("/checkout", data=form)
    assert page.status_code == 422
    assert message in page.text
    assert world.diff() == ()


def test_placing_an_order_empties_the_cart_and_takes_from_the_stock(world: World, shop: httpx.Client) -> None:
    shop.post("/product/1/cart", data={"quantity": "3"})
    placed = shop.post("/checkout", data={"shipping": "Express", "payment": "Gift Card"}, follow_redirects=True)
    assert "Thank you. Your order is placed." in placed.text
    total = 3 * DATA.products[0].price_cents + 900
    assert f"Total: ${total / 100:,.2f}" in placed.text
    assert world.query("SELECT stock FROM products WHERE id = 1") == ((DATA.products[0].stock - 3,),)
    assert "Your cart is empty." in shop.get("/cart").text
    assert f"Order {DATA.orders[-1].id + 1}" in shop.get("/orders").text


def test_an_empty_cart_cannot_be_checked_out(world: World, shop: httpx.Client) -> None:
    assert shop.get("/checkout").headers["location"] == "/cart"
    assert shop.post("/checkout", data={"shipping": "Express", "payment": "Gift Card"}).headers["location"] == "/cart"
    assert world.diff() == ()


def test_log_in_and_out_work(visitor: httpx.Client) -> None:
    asked = visitor.get("/orders")
    assert asked.headers["location"] == "/login?next=%2Forders"
    wrong = visitor.post("/login", data={"email": DEFAULT_USER, "password": "guess"})
    assert (wrong.status_code, "The email or the password is wrong." in wrong.text) == (422, True)
    form = {"email": "Emma.Lopez@Example.com", "password": DATA.customers[0].password, "next": "/orders"}
    right = visitor.post("/login", data=form)
    assert right.headers["location"] == "/orders"
    # httpx files the cookie under the address, not the Host header, so it is carried over by hand.
    visitor.headers["cookie"] = right.headers["set-cookie"].partition(";")[0]
    assert "My Orders" in visitor.get("/orders").text
    left = visitor.post("/logout")
    visitor.headers["cookie"] = left.headers["set-cookie"].partition(";")[0]
    assert visitor.get("/orders").status_code == 303


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil.example", "evil", "/a\nb"])
def test_logging_in_never_leads_to_another_site(visitor: httpx.Client, target: str) -> None:
    form = {"email": DEFAULT_USER, "password": DATA.customers[0].password, "next": target}
    assert visitor.post("/login", data=form).headers["location"] == "/"


@pytest.mark.parametrize("cookie", ["1", "1.", "1.00", "2.{signature}", "x.{signature}", "1.é", "9" * 500])
def test_a_forged_session_is_nobodys(world: World, visitor: httpx.Client, cookie: str) -> None:
    signature = world.login(DEFAULT_USER)[0].value.partition(".")[2]
    header = f"session={cookie.replace('{signature}', signature)}".encode()
    assert visitor.get("/account", headers=[(b"cookie", header)]).status_code == 303


def test_forms_too_large_or_malformed_are_refused(shop: httpx.Client) -> None:
    assert shop.post("/product/1/review", data={"text": "x" * 70_000}).status_code == 413
    assert shop.post("/product/1/review", content=b"&".join([b"a=1"] * 60)).status_code == 400
    assert shop.post("/product/1/review", content=b"\xff\xfe=%zz&&=&").status_code == 422
    assert shop.request("DELETE", "/cart").status_code == 405


def test_list_pages_stay_short_enough_to_read(shop: httpx.Client) -> None:
    for path in ("/", "/category/kitchen?page=2", "/orders?page=2", f"/orders/{EMMA_ORDER.id}", "/product/15"):
        page = shop.get(path).text
        assert len(re.findall(r"<(?:a|button|input|select|textarea|p|li|h1|h2)\b", page)) <= 36, path


def test_every_link_leads_somewhere_and_every_form_survives_junk(shop: httpx.Client) -> None:
    seen: set[str] = set()
    forms: set[str] = set()
    queue = ["/"]
    while queue:
        path = queue.pop()
        if path in seen:
            continue
        seen.add(path)
        page = shop.get(path)
        assert page.status_code in (200, 303), path
        assert "//" not in " ".join(re.findall(r'(?:href|action)="([^"]*)"', page.text)), path
        queue += [unescape(link) for link in re.findall(r'href="(/[^"]*)"', page.text)]
        forms |= {
            unescape(action) or path for action in re.findall(r'<form method="post"(?: action="([^"]*)")?', page.text)
        }
    assert sum(path.startswith("/product/") for path in seen) >= 2 * 240
    every_tenth = sorted(forms)[::10]
    for index, action in enumerate([*every_tenth, "/login", "/checkout", "/logout"]):
        junk = JUNK[index % len(JUNK)]
        fields = ("quantity", "stars", "title", "text", "email", "password", "shipping", "payment", "next")
        assert shop.post(action, data=dict.fromkeys(fields, junk)).status_code < 500, action
