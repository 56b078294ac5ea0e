"""What the shop and its back office begin with, for several seeds."""

import sqlite3
from collections import Counter, defaultdict

import pytest

from clickgrad.worlds.shop.data import ShopData, shop_data
from clickgrad.worlds.shop.schema import build
from clickgrad.worlds.site import NOW

SHIPPING = {"Standard": 400, "Express": 900, "Next Day": 1500}


@pytest.fixture(params=[0, 1, 2])
def data(request: pytest.FixtureRequest) -> ShopData:
    return shop_data(request.param)


def test_the_shop_holds_what_a_small_shop_holds(data: ShopData) -> None:
    assert len(data.categories) == 8
    assert sum(item.enabled for item in data.products) == 240
    assert len({item.name for item in data.products}) == len(data.products) == 256
    assert 0.15 < sum(bool(item.sizes) for item in data.products) / 256 < 0.25
    assert len({customer.email for customer in data.customers}) == len(data.customers) == 300
    assert len(data.orders) == 1000
    assert sum(order.customer_id == 1 for order in data.orders) == 14
    assert {order.status for order in data.orders} == {"Processing", "On Hold", "Shipped", "Delivered", "Cancelled"}
    assert 470 <= len(data.reviews) <= 560
    assert Counter(review.status for review in data.reviews)["Pending"] == 40
    assert (data.staff[0].name, data.staff[0].role) == ("Emma Lopez", "Owner")
    sizes = (len(data.staff), len(data.promotions), len(data.cms_pages), len(data.search_terms), len(data.returns))
    assert sizes == (5, 15, 14, 80, 40)


def test_orders_add_up(data: ShopData) -> None:
    goods: Counter[int] = Counter()
    for item in data.order_items:
        goods[item.order_id] += item.quantity * item.price_cents
    for order in data.orders:
        assert order.total_cents == goods[order.id] + SHIPPING[order.shipping_method] - order.discount_cents
        assert bool(order.coupon) or not order.discount_cents


def test_what_follows_an_order_comes_after_it(data: ShopData) -> None:
    orders = {order.id: order for order in data.orders}
    assert {entry.order_id for entry in data.shipments} == {
        order.id for order in data.orders if order.status in ("Shipped", "Delivered")
    }
    now = NOW.isoformat(sep=" ", timespec="minutes")
    followers = [(entry.order_id, entry.created) for entry in data.shipments]
    followers += [(note.order_id, note.created) for note in data.order_notes]
    assert all(orders[order_id].created < created <= now for order_id, created in followers)
    items = {item.id: item for item in data.order_items}
    for back in data.returns:
        item = items[back.order_item_id]
        assert orders[item.order_id].status == "Delivered"
        assert orders[item.order_id].created < back.created <= now
        assert 1 <= back.quantity <= item.quantity
    newest_delivered = max(order.created for order in data.orders if order.status == "Delivered")
    assert all(order.created > newest_delivered for order in data.orders if order.status == "Processing")


def test_every_month_has_one_bestseller_and_one_customer_orders_most(data: ShopData) -> None:
    orders = {order.id: order for order in data.orders}
    for kept in (("Cancelled",), ()):  # without cancelled orders, and with them
        months: dict[str, Counter[int]] = defaultdict(Counter)
        for item in data.order_items:
            if orders[item.order_id].status not in kept:
                months[orders[item.order_id].created[:7]][item.product_id] += item.quantity
        for sold in months.values():
            (_, first), (_, second), (_, third), (_, fourth) = sold.most_common(4)
            assert first > second > third > fourth
    (_, first), (_, second) = Counter(order.customer_id for order in data.orders).most_common(2)
    assert first > second


def test_every_customer_has_one_default_address_and_labels_of_their_own(data: ShopData) -> None:
    labels: dict[int, list[str]] = defaultdict(list)
    for address in data.addresses:
        labels[address.customer_id].append(address.label)
    assert len(labels) == 300
    assert all(len(set(own)) == len(own) for own in labels.values())
    assert sum(address.is_default for address in data.addresses) == 300


def test_the_database_holds_it_and_is_small(data: ShopData) -> None:
    db = sqlite3.connect(":memory:")
    build(db, 0)
    db.commit()
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    assert len(db.serialize()) < 1_200_000
    db.close()
