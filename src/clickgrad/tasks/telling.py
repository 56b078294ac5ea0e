"""A verdict in words for people: what was done instead of what was asked for. Judging itself is in `checks.py`.

Moved Compact Steel Torch from the wish list to the cart instead of Deluxe Cotton Belt.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from urllib.parse import urlsplit

from clickgrad.tasks.checks import judge, unmatched
from clickgrad.types import AnswerCheck, Evidence, Outcome, PageCheck, RowChange, Scalar, StateCheck, Task, UrlCheck
from clickgrad.worlds.arena import SITES
from clickgrad.worlds.universe import Universe, build_universe

SHOWN = 3  # deeds in one sentence
LABELS = ("name", "title", "username", "label", "email", "term", "subject", "body", "text", "path")
# verb | what | where. A field is a column of the row, or what its foreign key points to.
PHRASES = {
    "cart_items insert": "put|{product}|into the cart",
    "cart_items delete": "took|{product}|out of the cart",
    "cart_items update": "set|{product}|to {quantity} in the cart",
    "wish_items insert": "put|{product}|on the wish list",
    "wish_items delete": "took|{product}|off the wish list",
    "cart_coupons insert": "applied|the coupon {promotion}|",
    "cart_coupons delete": "removed|the coupon {promotion}|",
    "addresses insert": "added|the {label} address|",
    "addresses delete": "deleted|the {label} address|",
    "addresses update": "changed|the {label} address|",
    "orders insert": "placed|an order|",
    "orders update": "set|order {id}|to {status}",
    "order_items insert": "ordered|{product}|",
    "order_notes insert": "noted|“{text}”|on order {order_id}",
    "shipments insert": "shipped|order {order_id}|with {carrier}",
    "reviews insert": "reviewed|{product}|with {stars} stars",
    "reviews update": "set|the review of {product}|to {status}",
    "returns insert": "returned|{order_item}|",
    "returns update": "set|the return of {order_item}|to {status}",
    "subscribers insert": "signed up|{email}|for the newsletter",
    "subscribers delete": "took|{email}|off the newsletter",
    "settings update": "set|{name}|to “{value}”",
    "forum_subscriptions insert": "subscribed to|{forum}|",
    "forum_subscriptions delete": "unsubscribed from|{forum}|",
    "forum_post_votes insert": "{vote}|the post “{post}”|",
    "forum_post_votes delete": "took back the vote on|the post “{post}”|",
    "forum_comment_votes insert": "{vote}|the comment “{comment}”|",
    "forum_comment_votes delete": "took back the vote on|the comment “{comment}”|",
    "forum_posts insert": "posted|“{title}”|in {forum}",
    "forum_comments insert": "commented|“{body}”|on “{post}”",
    "forum_messages insert": "sent|“{subject}”|to {recipient}",
    "code_stars insert": "starred|{project}|",
    "code_stars delete": "took the star from|{project}|",
    "code_follows insert": "followed|{user}|",
    "code_issues insert": "opened|the issue “{title}”|in {project}",
    "code_issues update": "{state_verb}|the issue “{title}”|",
    "code_merge_requests update": "{state_verb}|the merge request “{title}”|",
    "code_comments insert": "commented|“{text}”|on “{issue}{merge_request}”",
    "code_members insert": "added|{user}|to {project}",
    "code_members delete": "removed|{user}|from {project}",
    "code_members update": "made|{user}|{role} of {project}",
    "map_saved insert": "saved|{place}|to {list}",
    "map_saved delete": "removed|{place}|from {list}",
    "map_saved update": "changed|{place}|in {list}",
    "map_notes insert": "reported|{problem}|at {place}",
    "map_edits insert": "suggested|{value}|as {field} of {place}",
}


@dataclass(frozen=True, slots=True)
class Deed:
    """`moved | Deluxe Cotton Belt | from the wish list to the cart`"""

    verb: str
    what: str
    where: str = ""
    values: tuple[tuple[str, Scalar], ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return " ".join(filter(None, (self.verb, self.what, self.where)))


class Names:
    """What people call the rows of a universe."""

    def __init__(self, universe: Universe) -> None:
        self._columns, self._start = universe.columns, universe.start
        with sqlite3.connect(":memory:") as db:
            db.deserialize(universe.image)
            tables = universe.columns
            self._points_to = {
                (table, str(row[3])): str(row[2])
                for table in tables
                for row in db.execute(f'PRAGMA foreign_key_list("{table}")')
            }
        db.close()

    def row(self, table: str, key: Scalar) -> dict[str, Scalar]:
        found = self._start.get(table, {}).get(key) if isinstance(key, int) else None
        return dict(zip(self._columns[table], found, strict=True)) if found else {}

    def name(self, table: str, key: Scalar) -> str:
        """Of a row; for one that only links others, of what it links."""
        row = self.row(table, key)
        label = next((str(row[column]) for column in LABELS if row.get(column)), "")
        if label or not row:
            return label or (f"number {key}" if key is not None else "")
        linked = [
            self.name(self._points_to[table, column], row[column]) for column in row if self._links(table, column)
        ]
        return " ".join(linked[-1:]) or f"number {key}"

    def fields(self, change: RowChange) -> dict[str, str]:
        """What a phrase about the change may speak of."""
        values = dict(change.values)
        row = self.row(change.table, change.key if change.key is not None else values.get("id")) | values
        told = {column: "" if value is None else str(value) for column, value in row.items()}
        for column, value in row.items():
            if self._links(change.table, column):
                told[column.removesuffix("_id")] = (
                    "" if value is None else self.name(self._points_to[change.table, column], value)
                )
        told["vote"] = "upvoted" if row.get("value") == 1 else "downvoted"
        told["state_verb"] = {"open": "reopened", "closed": "closed", "merged": "merged"}.get(
            str(values.get("state", "")), "changed"
        )
        return told

    def _links(self, table: str, column: str) -> bool:
        return (table, column) in self._points_to


@lru_cache(4)
def names_of(seed: int) -> Names:
    """Of Pocket Arena's universe; takes a moment."""
    return Names(build_universe(SITES, seed))


def tell(task: Task, evidence: Evidence | None, names: Names | None) -> str:
    """A sentence or a few; "" where there is nothing to say beyond the outcome."""
    if evidence is None:
        return ""
    if judge(task, evidence).outcome is Outcome.PASSED:
        return ""
    return " ".join(filter(None, (_tell_check(check, evidence, names) for check in task.checks)))


def _tell_check(check: object, evidence: Evidence, names: Names | None) -> str:
    match check:
        case StateCheck() if names is not None:
            return _tell_state(check, evidence.changes, names)
        case AnswerCheck(expected) if not _holds(check, evidence):
            wanted = (" or " if check.mode == "exact" else " and ").join(f"“{text}”" for text in expected)
            return (
                f"Answered “{evidence.answer}” instead of {wanted}."
                if evidence.answer
                else f"Gave no answer; expected {wanted}."
            )
        case UrlCheck(site, path) if not _holds(check, evidence):
            at = urlsplit(evidence.url)
            return (
                f"Ended on {at.hostname}{at.path} instead of {site}.localhost{path}."
                if at.path != path
                else f"Ended on {at.path} with other filters than asked for."
            )
        case PageCheck(includes) if not _holds(check, evidence):
            return f"The last page does not show {' and '.join(f'“{text}”' for text in includes)}."
    return ""


def _holds(check: AnswerCheck | UrlCheck | PageCheck, evidence: Evidence) -> bool:
    alone = Task("", "", "test", (), "", "", "", (check,))
    return judge(alone, evidence).outcome is Outcome.PASSED


def _tell_state(check: StateCheck, changes: Sequence[RowChange], names: Names) -> str:
    missing, extra = unmatched(check, changes)
    if not missing and not extra:
        return ""
    asked, done = _deeds(missing, names), _deeds(extra, names)
    sentences = []
    for deed in list(done):
        twin = next((other for other in asked if (other.verb, other.where) == (deed.verb, deed.where)), None)
        if twin is None:
            sentences.append(f"{deed}, which was not asked for")
            continue
        asked.remove(twin)
        sentences.append(f"{deed}{_unlike(deed, twin)}")
    if asked and not changes:
        sentences.append(f"changed nothing; asked for: {_listed(asked)}")
    elif asked:
        sentences.append(f"not done: {_listed(asked)}")
    more = len(sentences) - SHOWN
    shown = sentences[:SHOWN] + ([f"and {more} more"] if more > 0 else [])
    return " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in shown)


def _unlike(done: Deed, asked: Deed) -> str:
    if done.what != asked.what:
        return f" instead of {asked.what}"
    found = dict(done.values)
    other = [
        f"{column.replace('_', ' ')} “{found.get(column)}” instead of “{value}”"
        for column, value in asked.values
        if found.get(column) != value
    ]
    return f", but with {', '.join(other)}" if other else ", but with more than was asked for"


def _listed(deeds: Sequence[Deed]) -> str:
    told = [str(deed) for deed in deeds[:SHOWN]]
    return "; ".join(told + ([f"and {len(deeds) - SHOWN} more"] if len(deeds) > SHOWN else []))


def _deeds(changes: Iterable[RowChange], names: Names) -> list[Deed]:
    deeds = [replace(_deed(change, names), values=change.values) for change in changes]
    for taken in [deed for deed in deeds if deed.where == "off the wish list"]:
        put = Deed("put", taken.what, "into the cart")
        if put in deeds:
            deeds[deeds.index(taken)] = Deed("moved", taken.what, "from the wish list to the cart")
            deeds.remove(put)
    return deeds


def _deed(change: RowChange, names: Names) -> Deed:
    fields = names.fields(change)
    phrase = PHRASES.get(f"{change.table} {change.op}")
    if phrase:
        verb, what, where = (part.format_map(_Blank(fields)).strip() for part in phrase.split("|"))
        return Deed(verb, what, where)
    noun = change.table.rpartition("_")[2].removesuffix("s").replace("_", " ")
    label = next((fields[column] for column in LABELS if fields.get(column)), "") or str(change.key or "")
    if change.op == "update":
        changed = ", ".join(f"{column.replace('_', ' ')} to “{value}”" for column, value in change.values)
        return Deed("changed", f"the {noun} {label}".strip(), f"({changed})")
    return Deed("added" if change.op == "insert" else "deleted", f"the {noun} {label}".strip())


class _Blank(dict[str, str]):
    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__(fields)

    def __missing__(self, name: str) -> str:
        return ""
