"""A to-do list on the standard library alone. Any web app would do in its place."""

import argparse
import html
import sqlite3
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

START = {
    "Home": ["Buy milk", "Call the plumber", "Fold the laundry"],
    "Work": ["Write the report", "Book the meeting room"],
    "Garden": ["Water the roses", "Mow the lawn", "Plant the tulips", "Fix the fence"],
}


class Page(BaseHTTPRequestHandler):
    database: Path

    def do_GET(self) -> None:
        place = urlsplit(self.path)
        if place.path == "/":
            self.show("To-do", self.lists())
        elif place.path == "/list":
            name = parse_qs(place.query).get("name", [""])[0]
            self.show(name, self.items(name))
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        name, title = (form.get(field, [""])[0].strip() for field in ("list", "title"))
        if self.path == "/reset":
            fill(self.database)
        elif self.path == "/add" and title:
            sql(self.database, "INSERT INTO items (list, title, done) VALUES (?, ?, 0)", name, title)
        elif self.path == "/done":
            sql(self.database, "UPDATE items SET done = 1 WHERE list = ? AND title = ?", name, title)
        self.send_response(303)
        self.send_header("Location", f"/list?name={quote(name)}" if name else "/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def lists(self) -> str:
        names = [name for (name,) in sql(self.database, "SELECT DISTINCT list FROM items ORDER BY list")]
        return "".join(f'<p><a href="/list?name={quote(name)}">{html.escape(name)}</a></p>' for name in names)

    def items(self, name: str) -> str:
        hidden = f'<input type="hidden" name="list" value="{html.escape(name)}">'
        field = '<label>New item <input name="title"></label> <button>Add</button>'
        lines = [f'<form method="post" action="/add">{hidden}{field}</form>']
        for title, done in sql(self.database, "SELECT title, done FROM items WHERE list = ? ORDER BY id", name):
            shown = html.escape(title)
            lines.append(f"<p>{shown} ({'done' if done else 'open'})</p>")
            if not done:
                button = f'<button name="title" value="{shown}">Finish {shown}</button>'
                lines.append(f'<form method="post" action="/done">{hidden}{button}</form>')
        return "".join(lines)

    def show(self, title: str, body: str) -> None:
        head = f"<!doctype html><title>{html.escape(title)}</title><a href='/'>All lists</a>"
        page = f"{head}<h1>{html.escape(title)}</h1>{body}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)


def sql(database: Path, statement: str, *values: str) -> list[tuple]:
    with closing(sqlite3.connect(database)) as connection, connection:
        return connection.execute(statement, values).fetchall()


def fill(database: Path) -> None:
    sql(database, "DROP TABLE IF EXISTS items")
    sql(database, "CREATE TABLE items (id INTEGER PRIMARY KEY, list TEXT, title TEXT, done INTEGER)")
    for name, titles in START.items():
        for title in titles:
            sql(database, "INSERT INTO items (list, title, done) VALUES (?, ?, 0)", name, title)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--data", type=Path, default=Path())
    options = parser.parse_args()
    Page.database = options.data / "todo.sqlite"
    fill(Page.database)
    ThreadingHTTPServer(("127.0.0.1", options.port), Page).serve_forever()


if __name__ == "__main__":
    main()
