"""README and docs/ as data: their prose, code blocks, inline code, links, headings and tables."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DOCUMENTS = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def blocks(document: Path, *languages: str) -> list[str]:
    return [body for language, body in FENCE.findall(document.read_text()) if language in languages]


def prose(document: Path) -> str:
    return FENCE.sub("", document.read_text())


def spans(document: Path) -> list[str]:
    """Inline code, also where it is broken over two lines; without what stands in double backticks."""
    paragraphs = re.sub(r"``.+?``", "", prose(document)).split("\n\n")
    return [" ".join(span.split()) for paragraph in paragraphs for span in re.findall(r"`([^`]+)`", paragraph)]


def commands(document: Path) -> list[list[str]]:
    """The words of every command line, up to a pipe, without variables set before it."""
    found = []
    for line in "\n".join(blocks(document, "bash", "sh", "console")).replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        words = words[: words.index("|")] if "|" in words else words
        while words and re.match(r"[A-Z_]+=", words[0]):
            words = words[1:]
        found += [words] if words else []
    return found


def links(document: Path) -> list[str]:
    """Relative ones: `page.md`, `page.md#heading`, `#heading`."""
    text = re.sub(r"(`+).+?\1", "", prose(document))
    return [target for target in LINK.findall(text) if not re.match(r"[a-z]+:", target)]


def anchors(document: Path) -> set[str]:
    """What headings can be reached by: `## The chat template` as `the-chat-template`."""
    headings = re.findall(r"^#{1,6} (.+)$", prose(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def tables(document: Path) -> list[tuple[str, list[str], list[list[str]]]]:
    """(heading above it, header, rows) of every table."""
    found: list[tuple[str, list[str], list[list[str]]]] = []
    heading, before = "", ""
    for line in prose(document).splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|---"):
            found.append((heading, _cells(before), []))
        elif line.startswith("|") and before.startswith("|"):
            found[-1][2].append(_cells(line))
        before = line if line.startswith("|") else ""
    return found


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]
