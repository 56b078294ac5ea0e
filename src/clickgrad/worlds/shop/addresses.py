"""The address book: labelled addresses, one of them the default."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from starlette.responses import Response

from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect
from clickgrad.worlds.shop.forms import line_error, wrong
from clickgrad.worlds.shop.pages import Visit, render
from clickgrad.worlds.shop.rows import Address, Customer

MAX_LABEL = 20
MAX_POSTCODE = 12
MAX_ADDRESSES = 10


@dataclass(frozen=True, slots=True)
class AddressDraft:
    label: str = ""
    street: str = ""
    city: str = ""
    postcode: str = ""

    def errors(self, others: list[Address]) -> dict[str, str]:
        taken = any(other.label.casefold() == self.label.casefold() for other in others)
        return wrong(
            label=line_error(self.label, "a label", MAX_LABEL) or ("You already have this label." if taken else ""),
            street=line_error(self.street, "a street"),
            city=line_error(self.city, "a city"),
            postcode=line_error(self.postcode, "a postcode", MAX_POSTCODE),
        )


def find_addresses(db: sqlite3.Connection, customer: Customer) -> list[Address]:
    rows = db.execute("SELECT * FROM addresses WHERE customer_id = ? ORDER BY id", (customer.id,))
    return [Address(*row) for row in rows]


def address_book(visit: Visit) -> Response:
    return render(visit, "addresses.html", addresses=find_addresses(visit.db, visit.require_user()))


def new_address(visit: Visit) -> Response:
    visit.require_user()
    return render(visit, "address.html", heading="New Address", draft=AddressDraft(), errors={})


def add_address(visit: Visit) -> Response:
    customer = visit.require_user()
    others = find_addresses(visit.db, customer)
    if len(others) >= MAX_ADDRESSES:
        raise Refusal(422, f"You can keep at most {MAX_ADDRESSES} addresses.")
    draft = _read(visit)
    errors = draft.errors(others)
    if errors:
        return render(visit, "address.html", 422, heading="New Address", draft=draft, errors=errors)
    visit.db.execute(
        "INSERT INTO addresses (customer_id, label, street, city, postcode, is_default) VALUES (?, ?, ?, ?, ?, ?)",
        (customer.id, draft.label, draft.street, draft.city, draft.postcode, int(not others)),
    )
    return redirect("/addresses")


def edit_address(visit: Visit) -> Response:
    own = _own_address(visit)
    draft = AddressDraft(own.label, own.street, own.city, own.postcode)
    return render(visit, "address.html", heading=f"Edit {own.label}", draft=draft, errors={})


def save_address(visit: Visit) -> Response:
    own = _own_address(visit)
    draft = _read(visit)
    errors = draft.errors([other for other in find_addresses(visit.db, visit.require_user()) if other.id != own.id])
    if errors:
        return render(visit, "address.html", 422, heading=f"Edit {own.label}", draft=draft, errors=errors)
    visit.db.execute(
        "UPDATE addresses SET label = ?, street = ?, city = ?, postcode = ? WHERE id = ?",
        (draft.label, draft.street, draft.city, draft.postcode, own.id),
    )
    return redirect("/addresses")


def make_default(visit: Visit) -> Response:
    own = _own_address(visit)
    visit.db.execute("UPDATE addresses SET is_default = (id = ?) WHERE customer_id = ?", (own.id, own.customer_id))
    return redirect("/addresses")


def delete_address(visit: Visit) -> Response:
    own = _own_address(visit)
    if own.is_default:
        raise Refusal(422, "The default address cannot be deleted. Make another one the default first.")
    visit.db.execute("DELETE FROM addresses WHERE id = ?", (own.id,))
    return redirect("/addresses")


def _read(visit: Visit) -> AddressDraft:
    return AddressDraft(*(visit.typed(name) for name in ("label", "street", "city", "postcode")))


def _own_address(visit: Visit) -> Address:
    customer = visit.require_user()
    row = visit.db.execute("SELECT * FROM addresses WHERE id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    address = Address(*row)
    if address.customer_id != customer.id:
        raise Refusal(403, "This address belongs to another customer.")
    return address
