"""What is told of pages, against what everybody else says can be acted on there: the accessibility tree, the listeners
that the browser knows, the hand over an element. Every difference is listed, with its reason.

Recall is the share of elements that can be seen and acted on that were told; those that only wrap or hand on what was
told are listed as left out and not counted. Precision is the share of what was told that somebody else knows of.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import resources

from clickgrad.bench.eyes_pages import Zoo, miniwob_pages, pocket_pages
from clickgrad.bench.figures import median, percentile
from clickgrad.browser.chromium_session import ChromiumSession
from clickgrad.display import say
from clickgrad.errors import UserError

LOOKS = 3  # at each page; the quickest counts
ROLES = re.compile(
    r"button|link|checkbox|radio|tab|menuitem(checkbox|radio)?|option|switch|combobox|searchbox|textbox|slider"
    r"|spinbutton|treeitem"
)


@dataclass(frozen=True, slots=True)
class Difference:
    page: str
    kind: str  # missed, left out, told besides
    what: str
    why: str  # who says that it can be acted on
    reason: str


@dataclass(frozen=True, slots=True)
class EyesFigures:
    pages: int
    recall: float
    precision: float
    observe_ms_p50: float
    observe_ms_p95: float
    elements: int  # that can be seen and acted on, by anybody's word
    told: int
    missed: int
    told_besides: int
    left_out: int
    differences: tuple[Difference, ...]

    def plain(self) -> dict[str, object]:
        return asdict(self)

    def text(self) -> str:
        lines = [f"{one.page}: {one.kind}: {one.what} ({one.why}) {one.reason}" for one in self.differences]
        rates = f"recall {self.recall:.4f}, precision {self.precision:.4f} on {self.pages} pages"
        counts = f"{self.elements} elements, {self.missed} missed, {self.told_besides} of {self.told} told besides"
        return "\n".join([*lines, f"{rates}: {counts}; observing {self.observe_ms_p50:.1f} ms (p50)"])


@dataclass(frozen=True, slots=True)
class _Seen:
    found: int
    told: int
    ms: float
    differences: tuple[Difference, ...]


def bench_eyes(zoo: Zoo, suites: Sequence[str], quiet: bool) -> EyesFigures:
    unknown = sorted(set(suites) - {"zoo", "miniwob", "pocket"})
    if unknown:
        raise UserError(f"--suites: {unknown[0]} is none; there are zoo, miniwob and pocket")
    if "zoo" in suites and not zoo.names:
        raise UserError(f"--pages {zoo.folder}: no *.html there; give the folder of test pages, as tests/pages")
    return asyncio.run(_measure(zoo, suites, quiet))


async def _measure(zoo: Zoo, suites: Sequence[str], quiet: bool) -> EyesFigures:
    openers: dict[str, Callable[[], AsyncIterator[tuple[str, ChromiumSession]]]] = {
        "zoo": zoo.pages,
        "miniwob": miniwob_pages,
        "pocket": pocket_pages,
    }
    seen: list[_Seen] = []
    for suite in suites:
        before = len(seen)
        async for name, session in openers[suite]():
            seen.append(await _look(name, session))
        if not quiet:
            say(f"{suite}: {len(seen) - before} pages")
    return _summary(seen)


def _summary(seen: Sequence[_Seen]) -> EyesFigures:
    differences = tuple(one for page in seen for one in page.differences)
    missed, besides, left_out = (
        sum(one.kind == kind for one in differences) for kind in ("missed", "told besides", "left out")
    )
    found, told = sum(page.found for page in seen), sum(page.told for page in seen)
    milliseconds = [page.ms for page in seen]
    return EyesFigures(
        pages=len(seen),
        recall=found / max(1, found + missed),
        precision=(told - besides) / max(1, told),
        observe_ms_p50=median(milliseconds),
        observe_ms_p95=percentile(milliseconds, 0.95),
        elements=found + missed,
        told=told,
        missed=missed,
        told_besides=besides,
        left_out=left_out,
        differences=differences,
    )


async def _look(name: str, session: ChromiumSession) -> _Seen:
    milliseconds = []
    for _ in range(LOOKS):
        started = time.perf_counter()
        await session.observe()
        milliseconds.append(1000 * (time.perf_counter() - started))
    answer = json.loads(str(await session.inspect(_source(), await _accessible(session))))
    differences = tuple(
        Difference(name, one["kind"], one["what"], one["why"], one["reason"]) for one in answer["differences"]
    )
    return _Seen(answer["found"], answer["told"], min(milliseconds), differences)


async def _accessible(session: ChromiumSession) -> list[int]:
    """The nodes that the accessibility tree calls controls."""
    protocol = await session.page.context.new_cdp_session(session.page)
    nodes = (await protocol.send("Accessibility.getFullAXTree"))["nodes"]
    await protocol.detach()
    found = (
        node.get("backendDOMNodeId")
        for node in nodes
        if not node["ignored"] and ROLES.fullmatch(node["role"].get("value", ""))
    )
    return [number for number in found if number is not None]


def _source() -> str:
    text = resources.files("clickgrad.bench").joinpath("eyes.js").read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
