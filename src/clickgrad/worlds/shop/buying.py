"""From cart to order. A cart belongs to a customer, so visitors are asked to log in first."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from clickgrad.worlds.shop.browse import find_product, parse_quantity, product_page
from clickgrad.worlds.shop.data import PAYMENT_METHODS, SHIPPING_CENTS, CartItem, Customer, Product
from clickgrad.worlds.shop.visit import NOT_FOUND, Refusal, Visit, redirect, render
from clickgrad.worlds.site import NOW


@dataclass(frozen=True, slots=True)
class CartLine:
    item: CartItem
    product: Product
    quantity: str  # as typed
    error: str = ""

    @property
    def total_cents(self) -> int:
        return self.item.quantity * self.product.price_cents


def add_to_cart(visit: Visit) -> Response:
    customer = visit.require_customer()
    item = find_product(visit, visit.path_id())
    product = item.product
    typed = visit.form.get("quantity", "")
    held = visit.db.execute(
        "SELECT quantity FROM cart_items WHERE customer_id = ? AND product_id = ?", (customer.id, product.id)
    ).fetchone()
    quantity = parse_quantity(typed, product.stock - (held[0] if held else 0))
    if isinstance(quantity, str):
        return product_page(visit, item, typed, quantity)
    visit.db.execute(
        "INSERT INTO cart_items (customer_id, product_id, quantity) VALUES (?, ?, ?)"
        " ON CONFLICT (customer_id, product_id) DO UPDATE SET quantity = quantity + excluded.quantity",
        (customer.id, product.id, quantity),
    )
    return redirect("/cart")


def cart(visit: Visit) -> Response:
    return _cart_page(visit, _cart_lines(visit, visit.require_customer()))


def update_item(visit: Visit) -> Response:
    customer = visit.require_customer()
    line = _own_line(visit, customer)
    typed = visit.form.get("quantity", "")
    quantity = parse_quantity(typed, line.product.stock)
    if isinstance(quantity, str):
        shown = CartLine(line.item, line.product, typed, quantity)
        return _cart_page(visit, [shown if other == line else other for other in _cart_lines(visit, customer)])
    visit.db.execute("UPDATE cart_items SET quantity = ? WHERE id = ?", (quantity, line.item.id))
    return redirect("/cart")


def remove_item(visit: Visit) -> Response:
    line = _own_line(visit, visit.require_customer())
    visit.db.execute("DELETE FROM cart_items WHERE id = ?", (line.item.id,))
    return redirect("/cart")


def checkout(visit: Visit) -> Response:
    customer = visit.require_customer()
    lines = _cart_lines(visit, customer)
    if not lines:
        return redirect("/cart")
    return _checkout_page(visit, lines, "Standard", "Credit Card", {})


def place_order(visit: Visit) -> Response:
    customer = visit.require_customer()
    lines = _cart_lines(visit, customer)
    if not lines:
        return redirect("/cart")
    shipping, payment = visit.form.get("shipping", ""), visit.form.get("payment", "")
    errors = {}
    if shipping not in SHIPPING_CENTS:
        errors["shipping"] = "Choose a shipping method."
    if payment not in PAYMENT_METHODS:
        errors["payment"] = "Choose a payment method."
    if errors:
        return _checkout_page(visit, lines, shipping, payment, errors)
    return redirect(f"/orders/{_save_order(visit, customer, lines, shipping, payment)}?placed=1")


def _save_order(visit: Visit, customer: Customer, lines: list[CartLine], shipping: str, payment: str) -> int:
    total = sum(line.total_cents for line in lines) + SHIPPING_CENTS[shipping]
    created = NOW.isoformat(sep=" ", timespec="minutes")
    order_id = visit.db.execute(
        "INSERT INTO orders (customer_id, created, status, shipping_method, payment_method, total_cents)"
        " VALUES (?, ?, 'Processing', ?, ?, ?)",
        (customer.id, created, shipping, payment, total),
    ).lastrowid
    assert order_id is not None
    for line in lines:
        product, quantity = line.product, line.item.quantity
        if quantity > product.stock:
            raise Refusal(409, f"Only {product.stock} of {product.name} are left.")
        visit.db.execute(
            "INSERT INTO order_items (order_id, product_id, quantity, price_cents) VALUES (?, ?, ?, ?)",
            (order_id, product.id, quantity, product.price_cents),
        )
        visit.db.execute("UPDATE products SET stock = stock - ? WHERE id = ?", (quantity, product.id))
    visit.db.execute("DELETE FROM cart_items WHERE customer_id = ?", (customer.id,))
    return order_id


def _cart_lines(visit: Visit, customer: Customer) -> list[CartLine]:
    rows = visit.db.execute(
        "SELECT c.id, c.customer_id, c.product_id, c.quantity, p.* FROM cart_items c"
        " JOIN products p ON p.id = c.product_id WHERE c.customer_id = ? ORDER BY c.id",
        (customer.id,),
    )
    return [CartLine(CartItem(*row[:4]), Product(*row[4:]), str(row[3])) for row in rows]


def _own_line(visit: Visit, customer: Customer) -> CartLine:
    wanted = visit.path_id()
    for line in _cart_lines(visit, customer):
        if line.item.id == wanted:
            return line
    raise NOT_FOUND


def _cart_page(visit: Visit, lines: list[CartLine]) -> Response:
    status = 422 if any(line.error for line in lines) else 200
    return render(visit, "cart.html", status, lines=lines, total=sum(line.total_cents for line in lines))


def _checkout_page(
    visit: Visit, lines: list[CartLine], shipping: str, payment: str, errors: dict[str, str]
) -> Response:
    values = {"shipping": shipping, "payment": payment, "shipping_costs": SHIPPING_CENTS, "payments": PAYMENT_METHODS}
    total = sum(line.total_cents for line in lines)
    return render(visit, "checkout.html", 422 if errors else 200, lines=lines, total=total, errors=errors, **values)
