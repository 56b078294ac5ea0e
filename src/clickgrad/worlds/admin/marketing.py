"""What the shop tells its customers: promotions with their codes, and the information pages."""

from __future__ import annotations

import re
from collections.abc import Mapping

from starlette.responses import Response

from clickgrad.worlds.admin.forms import Form, plain_price
from clickgrad.worlds.admin.grid import Filter, chosen, cut
from clickgrad.worlds.admin.pages import Visit, detail, render
from clickgrad.worlds.pages import NOT_FOUND
from clickgrad.worlds.shop.rows import CmsPage, Promotion
from clickgrad.worlds.site import NOW

KINDS = ("Percent", "Fixed", "Free shipping")
SHOWS = {"active": "Active", "inactive": "Inactive"}
PAGE_STATUSES = ("Published", "Draft")
_CODE = re.compile(r"[A-Z0-9]{3,20}")
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MAX_SLUG = 60


def promotions(visit: Visit) -> Response:
    search, show = visit.query.get("q", "").strip(), chosen(visit, "show", SHOWS)
    wanted = Filter()
    wanted.words(search, "name || ' ' || code")
    if show:
        wanted.add("active = ?", show == "active")
    grid = cut(visit, Promotion, "SELECT * FROM promotions", wanted, "ORDER BY ends DESC, name")
    return render(visit, "promotions.html", grid=grid, search=search, show=show, shows=SHOWS)


def promotion(visit: Visit) -> Response:
    found = _find_promotion(visit)
    return _promotion_page(visit, found, Form(_typed_promotion(found)))


def new_promotion(visit: Visit) -> Response:
    typed = {"kind": "Percent", "starts": NOW.date().isoformat(), "active": "1"}
    return _promotion_page(visit, None, Form(typed))


def save_promotion(visit: Visit) -> Response:
    found, form = _find_promotion(visit), Form(visit.form)
    values = _promotion_values(visit, form, found.id)
    if form.errors:
        return _promotion_page(visit, found, form)
    changes = ", ".join(f"{name} = :{name}" for name in values)
    visit.db.execute(f"UPDATE promotions SET {changes} WHERE id = :id", values | {"id": found.id})
    return detail(visit, f"/promotions/{found.id}", "saved")


def create_promotion(visit: Visit) -> Response:
    form = Form(visit.form)
    values = _promotion_values(visit, form, 0)
    if form.errors:
        return _promotion_page(visit, None, form)
    places = ", ".join(f":{name}" for name in values)
    id_ = visit.db.execute(f"INSERT INTO promotions ({', '.join(values)}) VALUES ({places})", values).lastrowid
    return detail(visit, f"/promotions/{id_}", "created")


def _promotion_values(visit: Visit, form: Form, own_id: int) -> dict[str, str | int | bool]:
    code = form.matching("code", _CODE, "Use 3 to 20 capital letters and digits.")
    taken = visit.db.execute("SELECT 1 FROM promotions WHERE code = ? AND id <> ?", (code, own_id)).fetchone()
    form.check("code", lambda: taken is None, "Another promotion has this code.")
    kind = form.choice("kind", {kind: kind for kind in KINDS}, "Choose a kind.", "")
    starts, ends = form.day("starts"), form.day("ends")
    form.check("ends", lambda: starts <= ends, "The end must not be before the start.")
    return {
        "name": form.line("name", "Enter the name."),
        "code": code,
        "kind": kind,
        "amount": _amount(form, kind),
        "starts": starts,
        "ends": ends,
        "active": form.ticked("active"),
    }


def _amount(form: Form, kind: str) -> int:
    if kind == "Percent":
        return form.count("amount", 1, 100)
    return form.price("amount") if kind == "Fixed" else 0


def _typed_promotion(found: Promotion) -> Mapping[str, str]:
    amount = {"Percent": str(found.amount), "Fixed": plain_price(found.amount)}.get(found.kind, "")
    texts = {name: str(getattr(found, name)) for name in ("name", "code", "kind", "starts", "ends")}
    return texts | {"amount": amount, "active": str(int(found.active))}


def _promotion_page(visit: Visit, found: Promotion | None, form: Form) -> Response:
    status = 422 if form.errors else 200
    return render(visit, "promotion.html", status, promotion=found, kinds=KINDS, form=form)


def _find_promotion(visit: Visit) -> Promotion:
    row = visit.db.execute("SELECT * FROM promotions WHERE id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    return Promotion(*row)


def cms_pages(visit: Visit) -> Response:
    search = visit.query.get("q", "").strip()
    status = chosen(visit, "status", PAGE_STATUSES.__contains__)
    wanted = Filter()
    wanted.words(search, "title || ' ' || slug || ' ' || content")
    if status:
        wanted.add("status = ?", status)
    grid = cut(visit, CmsPage, "SELECT * FROM cms_pages", wanted, "ORDER BY title, id")
    return render(visit, "cms_pages.html", grid=grid, search=search, state=status, statuses=PAGE_STATUSES)


def cms_page(visit: Visit) -> Response:
    found = _find_page(visit)
    typed = {name: str(getattr(found, name)) for name in ("title", "slug", "content", "status")}
    return _cms_form(visit, found, Form(typed))


def new_page(visit: Visit) -> Response:
    return _cms_form(visit, None, Form({"status": "Published"}))


def save_page(visit: Visit) -> Response:
    found, form = _find_page(visit), Form(visit.form)
    values = _page_values(visit, form, found.id)
    if form.errors:
        return _cms_form(visit, found, form)
    if any(getattr(found, name) != value for name, value in values.items()):
        changes = ", ".join(f"{name} = :{name}" for name in values)
        stamped = values | {"updated": NOW.date().isoformat(), "id": found.id}
        visit.db.execute(f"UPDATE cms_pages SET {changes}, updated = :updated WHERE id = :id", stamped)
    return detail(visit, f"/pages/{found.id}", "saved")


def create_page(visit: Visit) -> Response:
    form = Form(visit.form)
    values = _page_values(visit, form, 0)
    if form.errors:
        return _cms_form(visit, None, form)
    id_ = visit.db.execute(
        "INSERT INTO cms_pages (title, slug, content, status, updated) VALUES (:title, :slug, :content, :status, :now)",
        values | {"now": NOW.date().isoformat()},
    ).lastrowid
    return detail(visit, f"/pages/{id_}", "created")


def _page_values(visit: Visit, form: Form, own_id: int) -> dict[str, str]:
    """The address may be left out: it is then made of the title."""
    title = form.line("title", "Enter the title.")
    typed = form.text("slug", limit=MAX_SLUG)
    slug = typed or re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    form.check("slug", lambda: _SLUG.fullmatch(slug) is not None, "Use small letters, digits and hyphens.")
    taken = visit.db.execute("SELECT 1 FROM cms_pages WHERE slug = ? AND id <> ?", (slug, own_id)).fetchone()
    form.check("slug", lambda: taken is None, "Another page has this address.")
    status = form.choice("status", {status: status for status in PAGE_STATUSES}, "Choose a status.", "")
    return {"title": title, "slug": slug, "content": form.text("content", "Enter the content."), "status": status}


def _cms_form(visit: Visit, found: CmsPage | None, form: Form) -> Response:
    status = 422 if form.errors else 200
    return render(visit, "cms_page.html", status, page=found, statuses=PAGE_STATUSES, form=form)


def _find_page(visit: Visit) -> CmsPage:
    row = visit.db.execute("SELECT * FROM cms_pages WHERE id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    return CmsPage(*row)
