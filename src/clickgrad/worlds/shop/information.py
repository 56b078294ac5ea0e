"""Information pages, the contact form and the newsletter: open to everybody."""

from __future__ import annotations

from starlette.responses import Response

from clickgrad.worlds.pages import NOT_FOUND, redirect
from clickgrad.worlds.shop.forms import email_error, length_error, wrong
from clickgrad.worlds.shop.pages import Visit, render
from clickgrad.worlds.shop.rows import CmsPage
from clickgrad.worlds.shop.words import MESSAGES
from clickgrad.worlds.site import NOW

SUBJECTS = tuple(MESSAGES)


def index(visit: Visit) -> Response:
    rows = visit.db.execute("SELECT slug, title FROM cms_pages WHERE status = 'Published' ORDER BY title").fetchall()
    return render(visit, "help.html", links=rows)


def page(visit: Visit) -> Response:
    row = visit.db.execute(
        "SELECT * FROM cms_pages WHERE slug = ? AND status = 'Published'", (visit.path["slug"],)
    ).fetchone()
    if row is None:
        raise NOT_FOUND
    return render(visit, "cms.html", page=CmsPage(*row))


def contact_form(visit: Visit) -> Response:
    return _contact_page(visit, visit.user.email if visit.user else "", "", "", {})


def send_message(visit: Visit) -> Response:
    email, subject, text = (visit.typed(name) for name in ("email", "subject", "text"))
    errors = wrong(
        email=email_error(email),
        subject="" if subject in SUBJECTS else "Choose a subject.",
        text=length_error(text) or ("" if text else "Enter a message."),
    )
    if errors:
        return _contact_page(visit, email, subject, text, errors)
    visit.db.execute(
        "INSERT INTO contact_messages (customer_id, email, subject, text, created) VALUES (?, ?, ?, ?, ?)",
        (visit.user.id if visit.user else None, email, subject, text, NOW.isoformat(sep=" ", timespec="minutes")),
    )
    return redirect("/contact?sent=1")


def _contact_page(visit: Visit, email: str, subject: str, text: str, errors: dict[str, str]) -> Response:
    rows = visit.db.execute("SELECT name, value FROM settings WHERE name IN ('Store email', 'Store phone')")
    values = {"email": email, "subject": subject, "text": text, "subjects": SUBJECTS, "store": dict(rows.fetchall())}
    sent = visit.query.get("sent") == "1"
    return render(visit, "contact.html", 422 if errors else 200, errors=errors, sent=sent, **values)


def newsletter_form(visit: Visit) -> Response:
    return _newsletter_page(visit, "", "")


def subscribe(visit: Visit) -> Response:
    email = visit.typed("email").lower()
    error = email_error(email) or ("This email is already on the list." if _listed(visit, email) else "")
    if error:
        return _newsletter_page(visit, visit.typed("email"), error)
    created = NOW.date().isoformat()
    visit.db.execute("INSERT INTO subscribers (email, created) VALUES (?, ?)", (email, created))
    return redirect("/newsletter?done=joined")


def unsubscribe(visit: Visit) -> Response:
    email = visit.typed("email").lower()
    error = email_error(email) or ("" if _listed(visit, email) else "This email is not on the list.")
    if error:
        return _newsletter_page(visit, visit.typed("email"), error)
    visit.db.execute("DELETE FROM subscribers WHERE email = ?", (email,))
    return redirect("/newsletter?done=left")


def _listed(visit: Visit, email: str) -> bool:
    return visit.db.execute("SELECT 1 FROM subscribers WHERE email = ?", (email,)).fetchone() is not None


def _newsletter_page(visit: Visit, email: str, error: str) -> Response:
    notices = {"joined": "Welcome to the newsletter.", "left": "You will get no more newsletters."}
    notice = notices.get(visit.query.get("done", ""), "")
    return render(visit, "newsletter.html", 422 if error else 200, email=email, error=error, notice=notice)
