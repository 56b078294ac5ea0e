"""The customer's own data: log in and out, register, account, password."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from clickgrad.worlds.pages import redirect
from clickgrad.worlds.shop.forms import MAX_NAME, email_error, line_error, phone_error, wrong
from clickgrad.worlds.shop.pages import PAGES, Visit, render
from clickgrad.worlds.site import NOW

MIN_PASSWORD, MAX_PASSWORD = 6, 60


def login(visit: Visit) -> Response:
    sql = "SELECT id FROM customers WHERE email = ?1 AND password = ?2"
    return PAGES.check_login(visit, "email", sql, "The email or the password is wrong.")


def register_form(visit: Visit) -> Response:
    return render(visit, "register.html", name="", email="", errors={})


def register(visit: Visit) -> Response:
    name, email, password = visit.typed("name"), visit.typed("email").lower(), visit.form.get("password", "")
    errors = wrong(
        name=line_error(name, "your name", MAX_NAME),
        email=email_error(email) or _taken(visit, email),
        password=_password_error(password),
    )
    if errors:
        return render(visit, "register.html", 422, name=name, email=visit.typed("email"), errors=errors)
    new_id = visit.db.execute(
        "INSERT INTO customers (name, email, password, phone, customer_group, created, newsletter)"
        " VALUES (?, ?, ?, '', 'General', ?, 0)",
        (name, email, password, NOW.date().isoformat()),
    ).lastrowid
    assert new_id is not None
    return PAGES.log_in(new_id, "/account")


def account(visit: Visit) -> Response:
    visit.require_user()
    return render(visit, "account.html", saved=visit.query.get("saved") == "1")


@dataclass(frozen=True, slots=True)
class AccountDraft:
    name: str
    email: str
    phone: str
    newsletter: bool


def account_form(visit: Visit) -> Response:
    customer = visit.require_user()
    draft = AccountDraft(customer.name, customer.email, customer.phone, bool(customer.newsletter))
    return render(visit, "account_edit.html", draft=draft, errors={})


def save_account(visit: Visit) -> Response:
    customer = visit.require_user()
    name, email, phone = (visit.typed(field) for field in ("name", "email", "phone"))
    draft = AccountDraft(name, email.lower(), phone, visit.typed("newsletter") == "1")
    errors = wrong(
        name=line_error(draft.name, "your name", MAX_NAME),
        email=email_error(draft.email) or ("" if draft.email == customer.email else _taken(visit, draft.email)),
        phone=phone_error(draft.phone),
    )
    if errors:
        return render(visit, "account_edit.html", 422, draft=draft, errors=errors)
    visit.db.execute(
        "UPDATE customers SET name = ?, email = ?, phone = ?, newsletter = ? WHERE id = ?",
        (draft.name, draft.email, draft.phone, int(draft.newsletter), customer.id),
    )
    return redirect("/account?saved=1")


def password_form(visit: Visit) -> Response:
    visit.require_user()
    return render(visit, "password.html", errors={})


def save_password(visit: Visit) -> Response:
    customer = visit.require_user()
    current, new, repeated = (visit.form.get(name, "") for name in ("current", "new", "repeated"))
    errors = wrong(
        current="" if current == customer.password else "This is not your password.",
        new=_password_error(new),
        repeated="" if new == repeated else "The two passwords differ.",
    )
    if errors:
        return render(visit, "password.html", 422, errors=errors)
    visit.db.execute("UPDATE customers SET password = ? WHERE id = ?", (new, customer.id))
    return redirect("/account?saved=1")


def _password_error(password: str) -> str:
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        return f"Use from {MIN_PASSWORD} to {MAX_PASSWORD} characters."
    return ""


def _taken(visit: Visit, email: str) -> str:
    found = visit.db.execute("SELECT 1 FROM customers WHERE email = ?", (email,)).fetchone()
    return "This email is taken." if found else ""
