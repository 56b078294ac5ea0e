"""The cart and its coupon. A cart belongs to a customer, so visitors are asked to log in first."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from starlette.responses import Response

from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect
from clickgrad.worlds.shop.browse import find_product, product_page
from clickgrad.worlds.shop.forms import parse_quantity, wrong
from clickgrad.worlds.shop.pages import Visit, render
from clickgrad.worlds.shop.rows import CartItem, Customer, Product, Promotion
from clickgrad.worlds.site import NOW

MAX_CODE = 20


@dataclass(frozen=True, slots=True)
class CartLine:
    item: CartItem
    product: Product
    quantity: str  # as typed
    error: str = ""

    @property
    def total_cents(self) -> int:
        return self.item.quantity * self.product.price_cents


@dataclass(frozen=True, slots=True)
class Cart:
    lines: tuple[CartLine, ...]
    coupon: Promotion | None

    @property
    def goods_cents(self) -> int:
        return sum(line.total_cents for line in self.lines)

    def discount_cents(self, shipping_cents: int = 0) -> int:
        return self.coupon.discount_cents(self.goods_cents, shipping_cents) if self.coupon else 0


def find_cart(db: sqlite3.Connection, customer: Customer) -> Cart:
    rows = db.execute(
        "SELECT c.*, p.* FROM cart_items c JOIN products p ON p.id = c.product_id WHERE c.customer_id = ?"
        " ORDER BY c.id",
        (customer.id,),
    )
    lines = tuple(CartLine(CartItem(*row[:5]), Product(*row[5:]), str(row[4])) for row in rows)
    coupon = db.execute(
        "SELECT p.* FROM cart_coupons c JOIN promotions p ON p.id = c.promotion_id WHERE c.customer_id = ?",
        (customer.id,),
    ).fetchone()
    promotion = Promotion(*coupon) if coupon else None
    # A coupon may run out while it waits in the cart.
    return Cart(lines, promotion if promotion and promotion.valid_on(NOW.date().isoformat()) else None)


def put_in_cart(db: sqlite3.Connection, customer: Customer, product_id: int, size: str, quantity: int) -> None:
    db.execute(
        "INSERT INTO cart_items (customer_id, product_id, size, quantity) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (customer_id, product_id, size) DO UPDATE SET quantity = quantity + excluded.quantity",
        (customer.id, product_id, size, quantity),
    )


def left_to_buy(db: sqlite3.Connection, customer: Customer, product: Product) -> int:
    """The stock that is not yet in the customer's cart, in whatever size."""
    held = db.execute(
        "SELECT COALESCE(SUM(quantity), 0) FROM cart_items WHERE customer_id = ? AND product_id = ?",
        (customer.id, product.id),
    ).fetchone()[0]
    return product.stock - int(held)


def add_to_cart(visit: Visit) -> Response:
    customer = visit.require_user()
    item = find_product(visit, visit.path_id())
    product = item.product
    typed, size = visit.typed("quantity"), visit.typed("size")
    quantity = parse_quantity(typed, left_to_buy(visit.db, customer, product))
    errors = wrong(
        size="Choose a size." if product.size_options and size not in product.size_options else "",
        quantity=quantity if isinstance(quantity, str) else "",
    )
    if errors or isinstance(quantity, str):
        return product_page(visit, item, typed, size, errors)
    put_in_cart(visit.db, customer, product.id, size if product.size_options else "", quantity)
    return redirect("/cart")


def cart(visit: Visit) -> Response:
    return _cart_page(visit, find_cart(visit.db, visit.require_user()))


def update_item(visit: Visit) -> Response:
    customer = visit.require_user()
    line = _own_line(visit, customer)
    typed = visit.typed("quantity")
    quantity = parse_quantity(typed, left_to_buy(visit.db, customer, line.product) + line.item.quantity)
    if isinstance(quantity, str):
        return _cart_page(visit, find_cart(visit.db, customer), CartLine(line.item, line.product, typed, quantity))
    visit.db.execute("UPDATE cart_items SET quantity = ? WHERE id = ?", (quantity, line.item.id))
    return redirect("/cart")


def remove_item(visit: Visit) -> Response:
    line = _own_line(visit, visit.require_user())
    visit.db.execute("DELETE FROM cart_items WHERE id = ?", (line.item.id,))
    return redirect("/cart")


def add_coupon(visit: Visit) -> Response:
    customer = visit.require_user()
    code = visit.typed("code").upper()
    row = visit.db.execute("SELECT * FROM promotions WHERE code = ?", (code[:MAX_CODE],)).fetchone()
    promotion = Promotion(*row) if row else None
    if promotion is None or not promotion.valid_on(NOW.date().isoformat()):
        error = "Enter a coupon code." if not code else "This coupon is not valid."
        return _cart_page(visit, find_cart(visit.db, customer), code=visit.typed("code"), code_error=error)
    visit.db.execute(
        "INSERT INTO cart_coupons (customer_id, promotion_id) VALUES (?, ?)"
        " ON CONFLICT (customer_id) DO UPDATE SET promotion_id = excluded.promotion_id",
        (customer.id, promotion.id),
    )
    return redirect("/cart")


def remove_coupon(visit: Visit) -> Response:
    customer = visit.require_user()
    visit.db.execute("DELETE FROM cart_coupons WHERE customer_id = ?", (customer.id,))
    return redirect("/cart")


def _own_line(visit: Visit, customer: Customer) -> CartLine:
    wanted = visit.path_id()
    owner = visit.db.execute("SELECT customer_id FROM cart_items WHERE id = ?", (wanted,)).fetchone()
    if owner is None:
        raise NOT_FOUND
    if owner[0] != customer.id:
        raise Refusal(403, "This cart belongs to another customer.")
    return next(line for line in find_cart(visit.db, customer).lines if line.item.id == wanted)


def _cart_page(
    visit: Visit, cart: Cart, mistake: CartLine | None = None, code: str = "", code_error: str = ""
) -> Response:
    lines = [mistake if mistake and line.item == mistake.item else line for line in cart.lines]
    status = 422 if mistake or code_error else 200
    return render(visit, "cart.html", status, cart=cart, lines=lines, code=code, code_error=code_error)
