"""BrowserGym's accessibility tree on the pages of the zoo: how many of the elements that a person sees it names.

BrowserGym lives in an environment of its own and is used for nothing else:

    python -m venv /tmp/bg && /tmp/bg/bin/pip install browsergym-core==0.13.3
    /tmp/bg/bin/python tests/compare/browsergym_eyes.py
    .venv/bin/clickgrad bench eyes --suites zoo --json

An element is named where a line of the tree has a number to act by and the name that the page's first lines give it,
each line once. Milliseconds are those of marking, the snapshot, the tree and taking the marks away, as in its own
`get_obs` without the picture; the quickest of three.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import threading
import time
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from npm_cache import CACHE, is_fetched
from zoo import PAGES, zoo

CHROMIUM = "/usr/lib/chromium/chromium-headless-shell"
LOOKS = 3
LINE = re.compile(r"^\s*\[\w+\] (\w+) '(.*?)'(?:,|$)")
STATE = re.compile(r"( = .*| \([^()]*\))+$")


class Handler(SimpleHTTPRequestHandler):
    def translate_path(self, path: str) -> str:
        return str(CACHE / path.removeprefix("/npm/")) if path.startswith("/npm/") else super().translate_path(path)

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> int:
    from browsergym.core import observation
    from browsergym.utils.obs import flatten_axtree_to_str
    from playwright.sync_api import sync_playwright

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(PAGES)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    named, elements, milliseconds = 0, 0, []
    pages = [page for page in zoo() if all(map(is_fetched, page.libraries))]
    with sync_playwright() as playwright:
        playwright.selectors.set_test_id_attribute("bid")
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        for page in pages:
            tab = browser.new_page(viewport={"width": 1280, "height": 720})
            tab.goto(f"http://127.0.0.1:{server.server_address[1]}/{page.name}.html")
            tab.wait_for_timeout(500)
            times = []
            for _ in range(LOOKS):
                started = time.perf_counter()
                observation._pre_extract(tab)
                extra = observation.extract_dom_extra_properties(observation.extract_dom_snapshot(tab))
                tree = observation.extract_merged_axtree(tab)
                observation._post_extract(tab)
                times.append(1000 * (time.perf_counter() - started))
            milliseconds.append(min(times))
            text = flatten_axtree_to_str(tree, extra, filter_visible_only=True)
            told = Counter(found[2].casefold() for line in text.splitlines() if (found := LINE.match(line)))
            for seen in page.sees:
                name = STATE.sub("", seen).partition(" ")[2].casefold()
                elements += 1
                if told[name]:
                    told[name] -= 1
                    named += 1
            tab.close()
        browser.close()
    server.shutdown()
    figures = {"pages": len(pages), "named": named, "elements": elements, "ms_p50": statistics.median(milliseconds)}
    sys.stdout.write(json.dumps(figures) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
