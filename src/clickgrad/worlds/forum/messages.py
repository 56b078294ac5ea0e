"""Private messages: what came in, what went out, writing and answering."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from clickgrad.worlds.forum.data import User
from clickgrad.worlds.forum.listing import PAGE_SIZE, pager
from clickgrad.worlds.forum.pages import Visit, length_error, lines, render, stamp
from clickgrad.worlds.forum.users import find_user
from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect

MAX_SUBJECT = 100
MAX_MESSAGE = 2000
_READ = (
    "SELECT m.id, m.sender_id, m.recipient_id, s.username, r.username, m.subject, m.body, m.created"
    " FROM forum_messages m JOIN forum_users s ON s.id = m.sender_id JOIN forum_users r ON r.id = m.recipient_id WHERE "
)


@dataclass(frozen=True, slots=True)
class ShownMessage:
    id: int
    sender_id: int
    recipient_id: int
    sender: str
    recipient: str
    subject: str
    body: str
    created: str


def inbox(visit: Visit) -> Response:
    return _box(visit, "inbox", "recipient_id")


def sent(visit: Visit) -> Response:
    return _box(visit, "sent", "sender_id")


def _box(visit: Visit, box: str, column: str) -> Response:
    user = visit.require_user()
    total = visit.db.execute(f"SELECT COUNT(*) FROM forum_messages WHERE {column} = ?", (user.id,)).fetchone()[0]
    place = pager(f"/{box}", {"page": visit.query.get("page", "")}, total)
    rows = visit.db.execute(
        f"{_READ} m.{column} = ? ORDER BY m.created DESC, m.id DESC LIMIT ? OFFSET ?",
        (user.id, PAGE_SIZE, (place.page - 1) * PAGE_SIZE),
    )
    return render(visit, "messages.html", box=box, messages=[ShownMessage(*row) for row in rows], pager=place)


def message(visit: Visit) -> Response:
    return _page(visit, _find(visit))


def reply(visit: Visit) -> Response:
    found, user = _find(visit), visit.require_user()
    if found.sender_id == user.id:
        raise Refusal(403, "You cannot reply to yourself.")
    text = lines(visit.typed("reply"))
    sender = find_user(visit, found.sender)
    assert sender is not None
    error = length_error(text, MAX_MESSAGE, "Enter a reply.") or _unwilling(sender)
    if error:
        return _page(visit, found, text, error)
    subject = found.subject if found.subject.startswith("Re: ") else f"Re: {found.subject}"
    return _send(visit, user, sender, subject[:MAX_SUBJECT], text)


def compose_form(visit: Visit) -> Response:
    visit.require_user()
    return render(visit, "compose.html", to=visit.query.get("to", ""), subject="", text="", errors={})


def compose(visit: Visit) -> Response:
    user = visit.require_user()
    to, subject, text = visit.typed("to"), " ".join(visit.typed("subject").split()), lines(visit.typed("message"))
    recipient = find_user(visit, to.lower())
    found = {
        "to": "Enter the name of a user." if recipient is None else _unwilling(recipient),
        "subject": length_error(subject, MAX_SUBJECT, "Enter a subject."),
        "message": length_error(text, MAX_MESSAGE, "Enter a message."),
    }
    if recipient is not None and recipient.id == user.id:
        found["to"] = "You cannot send a message to yourself."
    errors = {name: problem for name, problem in found.items() if problem}
    if errors or recipient is None:
        return render(visit, "compose.html", 422, to=to, subject=subject, text=text, errors=errors)
    return _send(visit, user, recipient, subject, text)


def _send(visit: Visit, sender: User, recipient: User, subject: str, text: str) -> Response:
    visit.db.execute(
        "INSERT INTO forum_messages (sender_id, recipient_id, subject, body, created) VALUES (?, ?, ?, ?, ?)",
        (sender.id, recipient.id, subject, text, stamp()),
    )
    return redirect("/sent")


def _unwilling(person: User) -> str:
    return "" if person.accepts_messages else f"{person.username} does not accept messages."


def _find(visit: Visit) -> ShownMessage:
    user = visit.require_user()
    row = visit.db.execute(f"{_READ} m.id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    found = ShownMessage(*row)
    if user.id not in (found.sender_id, found.recipient_id):
        raise Refusal(403, "This message belongs to other users.")
    return found


def _page(visit: Visit, found: ShownMessage, text: str = "", error: str = "") -> Response:
    received = visit.user is not None and visit.user.id == found.recipient_id
    status = 422 if error else 200
    return render(visit, "message.html", status, message=found, received=received, text=text, error=error)
