"""The wish list: products a customer thinks about, each once."""

from __future__ import annotations

from starlette.responses import Response

from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect
from clickgrad.worlds.shop.browse import find_product
from clickgrad.worlds.shop.cart import left_to_buy, put_in_cart
from clickgrad.worlds.shop.listing import RATED, rated
from clickgrad.worlds.shop.pages import Visit, render
from clickgrad.worlds.shop.rows import WishItem


def wish_list(visit: Visit) -> Response:
    return _wish_page(visit)


def add_wish(visit: Visit) -> Response:
    customer = visit.require_user()
    product = find_product(visit, visit.path_id()).product
    visit.db.execute(
        "INSERT INTO wish_items (customer_id, product_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
        (customer.id, product.id),
    )
    return redirect("/wishlist")


def remove_wish(visit: Visit) -> Response:
    visit.db.execute("DELETE FROM wish_items WHERE id = ?", (_own_wish(visit).id,))
    return redirect("/wishlist")


def move_to_cart(visit: Visit) -> Response:
    """One piece. A product with sizes is sent to its page, where the size is chosen."""
    customer, wish = visit.require_user(), _own_wish(visit)
    product = find_product(visit, wish.product_id).product
    if product.sizes:
        return redirect(f"/product/{product.id}")
    if left_to_buy(visit.db, customer, product) < 1:
        return _wish_page(visit, {wish.id: "No more of this product are left."})
    visit.db.execute("DELETE FROM wish_items WHERE id = ?", (wish.id,))
    put_in_cart(visit.db, customer, product.id, "", 1)
    return redirect("/cart")


def _own_wish(visit: Visit) -> WishItem:
    customer = visit.require_user()
    row = visit.db.execute("SELECT * FROM wish_items WHERE id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    wish = WishItem(*row)
    if wish.customer_id != customer.id:
        raise Refusal(403, "This wish list belongs to another customer.")
    return wish


def _wish_page(visit: Visit, errors: dict[int, str] | None = None) -> Response:
    customer = visit.require_user()
    wished = "SELECT id, product_id FROM wish_items WHERE customer_id = ? ORDER BY id"
    ids = {product_id: id_ for id_, product_id in visit.db.execute(wished, (customer.id,))}
    places = ", ".join("?" * len(ids))
    rows = visit.db.execute(f"{RATED} WHERE p.enabled AND p.id IN ({places})", tuple(ids))
    items = sorted((rated(row) for row in rows), key=lambda item: ids[item.product.id])
    return render(visit, "wishlist.html", 422 if errors else 200, items=items, ids=ids, errors=errors or {})
