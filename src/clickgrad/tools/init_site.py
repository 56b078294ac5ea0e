"""`clickgrad init`: a folder for a site of one's own, with comments where something is to be filled in."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from clickgrad.errors import UserError
from clickgrad.tasks.own.site import read_site

SITE = """\
# How the site is started or reached. Every option: docs/your-own-site.md
name = "{name}"
{reached}
# Before every episode the site has to be as it was: one of these, or none if `start` begins afresh each time.
# reset_url = "/reset"                  # asked by POST
# reset_command = "./reset.sh {{data}}"
{shared}
# clock = "2026-01-01T09:00:00Z"        # what pages take for the time of day when an episode begins
# settle_s = 0.5                        # for sites that are read too early: nothing may have changed for so long
# allow = ["fonts.example.org"]         # more hosts that pages may reach
"""
TASKS = '''\
"""What is to be done. `intent` is all that an agent is told; `checks` decide whether it was done."""


def tasks():
    return [
        {
            "id": "title.1",  # tasks alike share what stands before the last dot, and an expert of that name
            "split": "demo",  # demo: demonstrated by experts; train: reinforcement; test: held out
            "intent": "What is the heading of the start page?",
            "start": "/",
            "params": {},  # for checks and experts; agents never see it
            "checks": {"answer": "Welcome"},  # or answer_includes, url, page, python: all that are given must pass
        },
    ]
'''
CHECKS = '''\
"""Checks of your own, named in a task as {"python": "saved"}: each returns True, False, or why it is False."""

from clickgrad.tasks.own import Ended


def saved(end: Ended) -> bool | str:
    """Ask the site itself: end.fetch("/path"), end.data (its folder), end.answer, end.url, end.param("...")."""
    return "Saved" in end.page_text or "the last page does not say that it was saved"
'''
EXPERTS = '''\
"""How tasks are done, for `prove`, `demos` and cloning. Not every task needs one."""

from clickgrad.tasks.moves import Script, finish, texts
from clickgrad.types import Observation, Task


def title(task: Task, page: Observation) -> Script:
    """Named as the tasks' ids before the last dot. `page` is what an agent sees; after a move the next one comes back:

    page = yield click(page, "link", "Products", "they are listed there")
    page = yield fill(page, "Search", "mug", "this is what I look for")
    page = yield select(page, "Sort by", "Price", "the cheapest comes first then")
    """
    yield finish(texts(page)[0], "the heading is the first line")
'''
REACHED_URL = 'url = "{url}"                            # where the site runs already\n'
REACHED_START = """start = "{start}"
# {{port}} is filled in, so that several copies can run at once; {{data}} is an empty folder for each, {{python}} ours.
# instances = 4
"""


def init_site(folder: Path, url: str, start: str) -> tuple[Path, ...]:
    """The files written. Refuses to write over any."""
    if bool(url) == bool(start):
        raise UserError("say where the site is: --url http://host/ if it runs, or --start 'command --port {port}'")
    texts = {"site.toml": _site(folder, url, start), "tasks.py": TASKS, "checks.py": CHECKS, "experts.py": EXPERTS}
    there = [name for name in (*texts, "tasks.json") if (folder / name).exists()]
    if there:
        raise UserError(f"{folder / there[0]} is there already: give another folder, or move it away")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    try:
        read_site(folder)
    except UserError:
        for name in texts:
            (folder / name).unlink()
        raise
    return tuple(folder / name for name in texts)


def _site(folder: Path, url: str, start: str) -> str:
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in folder.resolve().name.lower())
    name = kept.strip("-") or (urlsplit(url).hostname or "site").replace(".", "-")
    quoted = (url or start).replace("\\", "\\\\").replace('"', '\\"')
    reached = (REACHED_URL if url else REACHED_START).format(url=quoted, start=quoted)
    shared = "shared = true" if url else "# shared = true"
    return SITE.format(
        name=name, reached=reached, shared=f"{shared:<39} # episodes do not disturb each other: nothing is reset"
    )
