"""The front page that `clickgrad serve` shows a person: which sites there are, and whom to log in as."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from clickgrad.worlds.people import people
from clickgrad.worlds.site import Site

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pocket Arena</title><link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 8vh auto; max-width: 44rem; padding: 0 1.5rem; font: 17px/1.55 system-ui, sans-serif; }}
h1 {{ font-size: 2rem; margin: 0 0 .4rem; letter-spacing: -.02em; }}
ul {{ list-style: none; padding: 0; display: grid; gap: .7rem; }}
a {{ display: block; padding: .9rem 1.1rem; border: 1px solid #8886; border-radius: 10px; color: inherit;
  text-decoration: none; }}
a:hover, a:focus-visible {{ border-color: #2a7de1; outline: none; }}
b {{ font-size: 1.1rem; }} span {{ display: block; opacity: .75; }} code {{ font-size: .95em; }}
</style></head>
<body><h1>Pocket Arena</h1>
<p>The sites that agents learn on. Everything here is made up, and what you change is gone when the server ends.</p>
<ul>{links}</ul>
<p>Log in as <code>{email}</code> with the password <code>{password}</code>.</p>
</body></html>"""


def front_page(sites: Sequence[Site], seed: int) -> ASGIApp:
    user = people(seed)[0]

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        port = Request(scope).url.port
        at = f":{port}" if port else ""
        links = "".join(
            f'<li><a href="http://{site.host}{at}/"><b>{site.name.capitalize()}</b>'
            f"<span>{escape(site.about)}</span></a></li>"
            for site in sites
        )
        page = _PAGE.format(links=links, email=user.email, password=user.password)
        await HTMLResponse(page)(scope, receive, send)

    return serve
