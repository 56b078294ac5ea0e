"""The shop's settings: one form for all of them, for owners and managers."""

from __future__ import annotations

import re
import sqlite3

from starlette.responses import Response

from clickgrad.worlds.admin.forms import Form, plain_price
from clickgrad.worlds.admin.pages import Visit, detail, render, require_owner
from clickgrad.worlds.pages import parse_count
from clickgrad.worlds.shop.rows import Setting

MAX_VALUE = 120
MAX_LOW_STOCK = 1000
EMAIL = re.compile(r"[^@\s]{1,60}@[^@\s]{1,60}\.[a-z]{2,12}")
EMAIL_ERROR = "Enter an email address such as name@example.com."


def settings(visit: Visit) -> Response:
    require_owner(visit)
    known = _all(visit.db)
    form = Form({_field(setting): setting.value for setting in known})
    return render(visit, "settings.html", settings=known, form=form)


def save(visit: Visit) -> Response:
    require_owner(visit)
    known, form = _all(visit.db), Form(visit.form)
    values = {setting.id: _read(form, setting) for setting in known}
    if form.errors:
        return render(visit, "settings.html", 422, settings=known, form=form)
    for setting_id, value in values.items():
        visit.db.execute("UPDATE settings SET value = ? WHERE id = ?", (value, setting_id))
    return detail(visit, "/settings", "saved")


def low_stock_limit(db: sqlite3.Connection) -> int:
    row = db.execute("SELECT value FROM settings WHERE name = 'Low stock limit'").fetchone()
    return parse_count(row[0]) or 0 if row else 0


def _read(form: Form, setting: Setting) -> str:
    name = _field(setting)
    if setting.name == "Low stock limit":
        return str(form.count(name, 0, MAX_LOW_STOCK))
    if setting.name == "Free shipping from":
        return plain_price(form.price(name))
    if "@" in setting.value:
        return form.matching(name, EMAIL, EMAIL_ERROR)
    return form.line(name, "Enter a value.", MAX_VALUE)


def _field(setting: Setting) -> str:
    return f"setting-{setting.id}"


def _all(db: sqlite3.Connection) -> list[Setting]:
    return [Setting(*row) for row in db.execute("SELECT * FROM settings ORDER BY id")]
