"""The zoo of test pages: each begins with a comment that says what a person sees on it, written by hand.

Sees:   everything that can be acted on, in order, as the outline tells it but for the numbers
Reads:  lines that stand there besides
Not:    words that stand nowhere
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAGES = Path(__file__).parent.parent / "pages"
_SECTION = re.compile(r"^(Sees|Reads|Not|Libraries):$")
_NUMBER = re.compile(r" \[\d+\](?=$| = | \()")


@dataclass(frozen=True, slots=True)
class ZooPage:
    name: str
    about: str
    sees: tuple[str, ...]
    reads: tuple[str, ...]
    absent: tuple[str, ...]
    libraries: tuple[str, ...]  # folders of the npm cache that the page asks for


def zoo() -> list[ZooPage]:
    return [read_page(path) for path in sorted(PAGES.glob("*.html"))]


def read_page(path: Path) -> ZooPage:
    comment = path.read_text("utf-8").partition("<!--")[2].partition("-->")[0]
    sections: dict[str, list[str]] = {"": []}
    current = ""
    for line in filter(str.strip, comment.splitlines()):
        found = _SECTION.match(line)
        if found:
            current = found[1]
            sections[current] = []
        else:
            sections[current].append(line.strip())
    parts = (tuple(sections.get(name, ())) for name in ("Sees", "Reads", "Not", "Libraries"))
    return ZooPage(path.stem, " ".join(sections[""]), *parts)


def faults(page: ZooPage, lines: tuple[str, ...]) -> list[str]:
    """How what was told of a page differs from what a person sees; empty when it does not."""
    told = tuple(_NUMBER.sub("", line, count=1) for line in lines if _NUMBER.search(line))
    found = [f"not told: {line}" for line in page.sees if line not in told]
    found += [f"told besides: {line}" for line in told if line not in page.sees]
    if not found and told != page.sees:
        found.append(f"in another order or number: {told}")
    found += [f"not read: {line}" for line in page.reads if line not in lines]
    found += [f"should not be told: {word}" for word in page.absent if any(word in line for line in lines)]
    return found
