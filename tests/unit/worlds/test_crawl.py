"""A crawler that opens every kind of link and submits every kind of form with junk: no site may answer with a 500."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx
import pytest

from clickgrad.worlds import Arena
from clickgrad.worlds.arena import SITES
from clickgrad.worlds.people import DEFAULT_USER

STRANGE = ("/no/such/page", "/%00", "/..%2f..%2fetc", "/1/2/3/4/5?page=-1&page=x&sort=%27")
OF_A_KIND = 3  # pages and forms visited of each kind: the same path but for numbers and names, the same fields
JUNK = (
    "", " ", "0", "-1", "99999999999999999999", "1e400", "x" * 3000, "'\";--<script>", "Ünï \u202e\x00", "2025-02-30",
)  # fmt: skip


@dataclass
class Form:
    method: str
    action: str
    fields: dict[str, str] = field(default_factory=dict)


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "form":
            self.forms.append(Form(given.get("method", "get").upper(), given.get("action", "")))
        elif tag in ("input", "select", "textarea", "button") and given.get("name") and self.forms:
            self.forms[-1].fields[given["name"]] = given.get("value", "")


def kind(url: str, fields: tuple[str, ...] = ()) -> tuple[str, ...]:
    parts = urlsplit(url)
    words = parts.path.split("/")
    shape = "/".join(word if len(words) <= 2 or not re.search(r"[\d._-]", word) else "*" for word in words)
    return (shape, *sorted(name for name, _ in parse_qsl(parts.query)), *fields)


class Crawl:
    def __init__(self, arena: Arena, site: str, user: str | None) -> None:
        self.world = arena.fork()
        host = f"{site}.localhost"
        cookies = {one.name: one.value for one in self.world.login(user) if one.host == host} if user else {}
        self.client = httpx.Client(
            base_url=f"http://{arena.hosts[host]}", headers={**self.world.headers, "host": host}, cookies=cookies
        )
        self.seen: dict[tuple[str, ...], int] = {}
        self.visited = self.submitted = 0
        self.astray: list[str] = []  # links that lead nowhere

    def fresh(self, what: tuple[str, ...]) -> bool:
        self.seen[what] = self.seen.get(what, 0) + 1
        return self.seen[what] <= OF_A_KIND

    def run(self, *, junk: bool) -> None:
        waiting = deque(["/", *STRANGE])
        while waiting:
            url = waiting.popleft()
            page = self.get(url)
            for link in page.links:
                target = urljoin(url, link)
                if target.startswith("/") and not target.startswith("//") and self.fresh(("link", *kind(target))):
                    waiting.append(target.partition("#")[0])
            for form in page.forms if junk else ():
                action = urljoin(url, form.action)
                if self.fresh((form.method, *kind(action, tuple(sorted(form.fields))))):
                    self.submit(action, form)

    def get(self, url: str) -> Reader:
        self.visited += 1
        answer = self.client.get(url)
        assert answer.status_code < 500, f"GET {url}: {answer.status_code}"
        if url not in STRANGE and answer.status_code not in (200, 303):
            self.astray.append(f"{url}: {answer.status_code}")
        reader = Reader()
        reader.feed(answer.text)
        return reader

    def submit(self, action: str, form: Form) -> None:
        cases = [dict.fromkeys(form.fields, junk) for junk in JUNK]
        cases += [form.fields | {name: junk} for name in form.fields for junk in JUNK]
        for values in [{}, *cases]:
            self.submitted += 1
            if form.method == "GET":
                answer = self.client.get(action, params=values)
            else:
                answer = self.client.post(action, data=values)
            assert answer.status_code < 500, f"{form.method} {action} with {values}: {answer.status_code}"

    def close(self) -> None:
        self.client.close()
        self.world.close()


@pytest.mark.parametrize("site", [site.name for site in SITES])
@pytest.mark.parametrize("user", [DEFAULT_USER, None])
def test_no_link_and_no_junk_in_any_form_gives_a_server_error(arena: Arena, site: str, user: str | None) -> None:
    crawl = Crawl(arena, site, user)
    crawl.run(junk=True)
    assert crawl.visited > (20 if user else 1)
    assert crawl.submitted > 10
    crawl.close()


@pytest.mark.parametrize("site", [site.name for site in SITES])
def test_every_link_leads_somewhere_and_looking_around_changes_nothing(arena: Arena, site: str) -> None:
    crawl = Crawl(arena, site, DEFAULT_USER)
    crawl.run(junk=False)
    assert crawl.visited > 20
    assert crawl.astray == []
    assert crawl.world.diff() == ()
    crawl.close()
