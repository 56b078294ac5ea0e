"""Ends of WebArena episodes for the comparison with the public evaluators: right ones, wrong ones, nearly right ones.

An end is an answer, an address, and pages that are tables of what each script finds. Knows no evaluator.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any
from urllib.parse import urlsplit

from clickgrad.types import Task
from clickgrad.webarena import ProgramHtml, StringMatch, UrlMatch

SITES = {
    "SHOPPING": "http://wa.test:7770",
    "SHOPPING_ADMIN": "http://wa.test:7780/admin",
    "REDDIT": "http://wa.test:9999",
    "GITLAB": "http://wa.test:8023",
    "WIKIPEDIA": "http://wa.test:8888/wiki",
    "MAP": "http://wa.test:3000",
    "HOMEPAGE": "http://wa.test:4399",
}
ORDER_ID = 190
MUMBLING = "zzz"  # an answer on which the model behind the judge says nothing of use


@dataclass
class Doc:
    html: str = "<html><body></body></html>"
    found: dict[str, Any] = field(default_factory=dict)  # by locator
    members: tuple[tuple[str, str], ...] = ()


@dataclass
class Ending:
    what: str  # how it was made
    answer: str = "done"
    url: str = ""
    docs: dict[str, Doc] = field(default_factory=dict)
    reviews: tuple[dict[str, Any], ...] = ()
    right: bool = False

    def doc(self, url: str) -> Doc:
        return self.docs.get(url, Doc())


# --- right ends -----------------------------------------------------------------------------------------------------


def right_ending(task: Task) -> Ending:
    ending = Ending("reference", url=task.start_urls[0], right=True)
    if any(isinstance(check, ProgramHtml) and "reddit_get_post_url" in repr(check) for check in task.checks):
        ending.url = f"{SITES['REDDIT']}/f/books/59421/a-title/-/comment/7"
    for check in task.checks:
        match check:
            case StringMatch(rules):
                texts = ["N/A" if rule.how == "ua_match" else ", ".join(rule.expected) for rule in rules]
                ending.answer = ", ".join(texts)
            case UrlMatch(urls):
                ending.url = urls[0]
    for check in task.checks:
        if isinstance(check, ProgramHtml):
            furnish(ending, check)
    return ending


def furnish(ending: Ending, check: ProgramHtml) -> None:
    """Pages on which every target finds what it wants."""
    texts: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for target in check.targets:
        url = where(target.url, ending.url)
        text = " ".join(expected.split(" |OR| ")[0] for expected in target.expected)
        if member := re.search(r"role\(__page__, '(.*)'\)", target.locator):
            doc = ending.docs.setdefault(url, Doc())
            doc.members += ((member[1], text),)
        elif "latest_review" in target.locator:
            key = "nickname" if "author" in target.locator else "ratings"
            value: Any = text if key == "nickname" else [{"rating_name": "Rating", "percent": int(text)}]
            ending.reviews = ({"nickname": "?", "ratings": []} | dict(*ending.reviews) | {key: value},)
        else:
            texts[url, target.locator].append(text)
    for (url, locator), parts in texts.items():
        doc = ending.docs.setdefault(url, Doc())
        if locator.strip():
            doc.found[locator] = " ".join(dict.fromkeys(parts))
        else:
            doc.html = f"<html><body>{' '.join(parts)}</body></html>"


def where(url: str, last_url: str) -> str:
    if url == "last":
        return last_url
    if "reddit_get_post_url" in url:
        post = re.match(r"https?://[^/]+/f/[^/?#]*/[^/?#]*", last_url)
        return f"{post[0]}/" if post else last_url
    return f"{SITES['SHOPPING']}/sales/order/view/order_id/{ORDER_ID}/" if url.startswith("func:") else url


# --- wrong and nearly right ends ------------------------------------------------------------------------------------


def other_answers(task: Task, entry: dict[str, Any], right: str, strange: str) -> Iterator[tuple[str, str]]:
    yield "empty", ""
    yield "whatever", "whatever"
    yield "N/A", "N/A"
    yield "n/a in a sentence", "n/a, this cannot be done"
    yield "another task's", strange
    yield "the makers' annotation", str(entry["eval"].get("reference_answer_raw_annotation") or "none")
    yield "the makers' note", str(entry["eval"].get("string_note") or "none")
    yield "mumbling", f"{MUMBLING} {right}" if len(right) % 7 == 0 else "none"
    yield "double quotes", f'"{right}"'
    yield "single quotes", f" '{right}' "
    yield "quotes in quotes", f"\"'{right}'\""
    yield "one quote", f'"{right}'
    yield "upper case", right.upper()
    yield "full stop", f"{right}."
    yield "sentence", f"The answer is {right}."
    yield "sentence before", f"It is {right}. That is all there is"
    yield "number after", f"{right}. 2 more were found"
    yield "brackets", f"({right})"
    yield "dollar", f"${right}"
    yield "cut", right[:-1]
    yield "head cut", right[1:]
    yield "digit before", f"1{right}"
    yield "digit after", f"{right}0"
    yield "spaces doubled", right.replace(" ", "  ")
    yield "commas gone", right.replace(",", "")
    yield "reversed", " ".join(reversed(right.split()))
    yield "half", right[: len(right) // 2]
    for check in task.checks:
        if isinstance(check, StringMatch):
            for rule in check.rules:
                for left_out in range(min(len(rule.expected), 4)):
                    rest = [text for place, text in enumerate(rule.expected) if place != left_out]
                    yield "one left out", ", ".join(rest)
                    yield "one alone", rule.expected[left_out]


def other_urls(task: Task, check: UrlMatch, right: str, strange: str) -> Iterator[tuple[str, str]]:
    parts = urlsplit(right)
    yield "start page", task.start_urls[0]
    yield "another task's", strange
    yield "slash", f"{right}/"
    yield "slashes", f"{right}///"
    yield "https", right.replace("http:", "https:", 1)
    yield "other host", right.replace("wa.test", "wb.test", 1)
    yield "other port", re.sub(r":\d+", ":1", right, count=1)
    yield "path cut", right.rsplit("/", 1)[0]
    yield "deeper", f"{right}/edit" if not parts.query else f"{right}&edit=1"
    yield "longer word", f"{right}s"
    yield "query added", f"{right}{'&' if parts.query else '?'}sort=up"
    yield "fragment", f"{right}#top"
    yield "parameters", f"{right};v=1"
    yield "no query", right.split("?")[0]
    yield "hidden in a query", f"http://elsewhere.test/?next={right}"
    yield "hidden in a path", f"http://elsewhere.test/{right.removeprefix('http://')}"
    yield "upper case", right.upper()
    yield "value changed", re.sub(r"=([^&]*)", r"=\1x", right)
    yield "value blank", re.sub(r"=([^&]*)", "=", right)
    yield "value doubled", re.sub(r"([?&])([^&=]*)=([^&]*)", r"\1\2=no&\2=\3", right)
    for other in check.urls[1:]:
        yield "another allowed", other
        yield "mixed", f"{other.split('?')[0]}?{parts.query}"
    if parts.query:
        yield "query turned around", f"{right.split('?')[0]}?{'&'.join(reversed(parts.query.split('&')))}"
        yield "one parameter less", f"{right.split('?')[0]}?{'&'.join(parts.query.split('&')[1:])}"


def as_text(value: Any) -> str:
    """Roles and names are texts, whatever the page."""
    return value if isinstance(value, str) else ""


def other_pages(task: Task, check: ProgramHtml, right: Ending) -> Iterator[Ending]:
    def changed(what: str, change: Any) -> Ending:
        docs = {
            url: Doc(
                change(doc.html), {k: change(v) for k, v in doc.found.items()},
                tuple((name, as_text(change(role))) for name, role in doc.members),
            )
            for url, doc in right.docs.items()
        }  # fmt: skip
        reviews = tuple(
            {"nickname": as_text(change(review["nickname"])), "ratings": review["ratings"]} for review in right.reviews
        )
        return replace(right, what=what, docs=docs, reviews=reviews, right=False)

    yield replace(right, what="no pages", docs={}, reviews=(), right=False)
    yield changed("upper case", str.upper)
    yield changed("escaped", escape)
    yield changed("escaped twice", lambda text: escape(escape(text)))
    yield changed("quotes", lambda text: f'"{text}"')
    yield changed("spaces around", lambda text: f"\n  {text}\t")
    yield changed("more text", lambda text: f"before {text} after")
    yield changed("cut", lambda text: text[:-1])
    yield changed("head cut", lambda text: text[1:])
    yield changed("word left out", lambda text: " ".join(text.split()[1:]))
    yield changed("nothing", lambda text: "")
    yield changed("null", lambda text: None if not text.startswith("<html>") else text)
    yield changed("a list", lambda text: [text] if not text.startswith("<html>") else text)
    yield changed("a number", lambda text: 5 if not text.startswith("<html>") else text)
    yield changed("mumbling", lambda text: f"{MUMBLING} {text}")
    yield replace(right, what="elsewhere", url=f"{SITES['REDDIT']}/f/books", right=False)
    yield replace(right, what="quote in the address", url=f"{right.url}?q='", right=False)
    for url in right.docs:
        yield replace(
            right, what="one page missing", docs={u: d for u, d in right.docs.items() if u != url}, right=False
        )
    for url, doc in right.docs.items():
        for locator in doc.found:
            less = Doc(doc.html, {k: v for k, v in doc.found.items() if k != locator}, doc.members)
            yield replace(right, what="one script throws", docs=right.docs | {url: less}, right=False)
        if doc.members:
            yield replace(right, what="members turned around", right=False, docs=right.docs | {
                url: Doc(doc.html, doc.found, tuple(reversed([("somebody", "Owner"), *doc.members])))
            })  # fmt: skip
    if right.reviews:
        newer = (*right.reviews, {"nickname": "Bob", "ratings": [{"rating_name": "Rating", "percent": 20}]})
        yield replace(right, what="a newer review", reviews=newer, right=False)


def endings(task: Task, entry: dict[str, Any], strange_answer: str, strange_url: str) -> Iterator[Ending]:
    """The right one first, then others, each once."""
    right = right_ending(task)
    seen = set()
    for ending in (right, *_others(task, entry, right, strange_answer, strange_url)):
        shown = repr((ending.answer, ending.url, ending.docs, ending.reviews))
        if shown not in seen:
            seen.add(shown)
            yield ending


def _others(
    task: Task, entry: dict[str, Any], right: Ending, strange_answer: str, strange_url: str
) -> Iterator[Ending]:
    for check in task.checks:
        match check:
            case StringMatch():
                for what, answer in other_answers(task, entry, right.answer, strange_answer):
                    yield replace(right, what=f"answer: {what}", answer=answer, right=False)
            case UrlMatch():
                for what, url in other_urls(task, check, right.url, strange_url):
                    # Some of these leave the pages on which the other checks look: they are part of the case.
                    docs = right.docs | ({url: right.docs[right.url]} if right.url in right.docs else {})
                    yield replace(right, what=f"url: {what}", url=url, docs=docs, right=False)
            case ProgramHtml():
                for ending in other_pages(task, check, right):
                    yield replace(ending, what=f"page: {ending.what}")
