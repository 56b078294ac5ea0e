"""From the cart to an order: where to, how, and how it is paid."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from starlette.responses import Response

from clickgrad.worlds.pages import Refusal, redirect
from clickgrad.worlds.shop.addresses import find_addresses
from clickgrad.worlds.shop.cart import Cart, find_cart
from clickgrad.worlds.shop.data import PAYMENT_METHODS, SHIPPING_CENTS
from clickgrad.worlds.shop.forms import wrong
from clickgrad.worlds.shop.pages import Visit, render
from clickgrad.worlds.shop.rows import Address, Customer
from clickgrad.worlds.site import NOW


def checkout(visit: Visit) -> Response:
    customer = visit.require_user()
    cart = find_cart(visit.db, customer)
    if not cart.lines:
        return redirect("/cart")
    default = next((home.label for home in find_addresses(visit.db, customer) if home.is_default), "")
    return _checkout_page(visit, cart, {"address": default, "shipping": "Standard", "payment": "Credit Card"}, {})


def place_order(visit: Visit) -> Response:
    customer = visit.require_user()
    cart = find_cart(visit.db, customer)
    if not cart.lines:
        return redirect("/cart")
    chosen = {name: visit.typed(name) for name in ("address", "shipping", "payment")}
    address = next((home for home in find_addresses(visit.db, customer) if home.label == chosen["address"]), None)
    errors = wrong(
        address="" if address else "Choose an address.",
        shipping="" if chosen["shipping"] in SHIPPING_CENTS else "Choose a shipping method.",
        payment="" if chosen["payment"] in PAYMENT_METHODS else "Choose a payment method.",
    )
    if errors or address is None:
        return _checkout_page(visit, cart, chosen, errors)
    return redirect(f"/orders/{_save_order(visit.db, customer, cart, address, chosen)}?placed=1")


def _shipping_costs(db: sqlite3.Connection, goods_cents: int) -> dict[str, int]:
    """Standard shipping is free from the amount that the shop has set."""
    row = db.execute("SELECT value FROM settings WHERE name = 'Free shipping from'").fetchone()
    try:
        free_from = int(Decimal(row[0]) * 100) if row else None
    except (InvalidOperation, ValueError, OverflowError):
        free_from = None  # the back office lets any text in
    is_free = free_from is not None and goods_cents >= free_from
    return SHIPPING_CENTS | ({"Standard": 0} if is_free else {})


def _save_order(
    db: sqlite3.Connection, customer: Customer, cart: Cart, address: Address, chosen: Mapping[str, str]
) -> int:
    shipping_cents = _shipping_costs(db, cart.goods_cents)[chosen["shipping"]]
    discount = cart.discount_cents(shipping_cents)
    order_id = db.execute(
        "INSERT INTO orders (customer_id, created, status, shipping_method, payment_method, address, coupon,"
        " discount_cents, total_cents) VALUES (?, ?, 'Processing', ?, ?, ?, ?, ?, ?)",
        (
            customer.id,
            NOW.isoformat(sep=" ", timespec="minutes"),
            chosen["shipping"],
            chosen["payment"],
            address.line,
            cart.coupon.code if cart.coupon else "",
            discount,
            cart.goods_cents + shipping_cents - discount,
        ),
    ).lastrowid
    assert order_id is not None
    for line in cart.lines:
        product, quantity = line.product, line.item.quantity
        (stock,) = db.execute("SELECT stock FROM products WHERE id = ?", (product.id,)).fetchone()
        if not product.enabled or quantity > stock:
            raise Refusal(409, f"Only {stock if product.enabled else 0} of {product.name} are left.")
        db.execute(
            "INSERT INTO order_items (order_id, product_id, size, quantity, price_cents) VALUES (?, ?, ?, ?, ?)",
            (order_id, product.id, line.item.size, quantity, product.price_cents),
        )
        db.execute("UPDATE products SET stock = stock - ? WHERE id = ?", (quantity, product.id))
    db.execute("DELETE FROM cart_items WHERE customer_id = ?", (customer.id,))
    db.execute("DELETE FROM cart_coupons WHERE customer_id = ?", (customer.id,))
    return order_id


def _checkout_page(visit: Visit, cart: Cart, chosen: Mapping[str, str], errors: Mapping[str, str]) -> Response:
    values = {
        "cart": cart,
        "chosen": chosen,
        "errors": errors,
        "addresses": find_addresses(visit.db, visit.require_user()),
        "shipping_costs": _shipping_costs(visit.db, cart.goods_cents),
        "payments": PAYMENT_METHODS,
    }
    return render(visit, "checkout.html", 422 if errors else 200, **values)
