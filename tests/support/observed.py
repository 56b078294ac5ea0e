"""Pages as a browser's session tells them, from what stands on them."""

from __future__ import annotations

from clickgrad.browser.render import Rendering, render
from clickgrad.browser.snapshot import Control, Snapshot, Text
from clickgrad.types import Observation


def observed(
    title: str, *items: str | Control, url: str = "http://shop.localhost/", rendering: Rendering = "outline"
) -> Observation:
    snapshot = Snapshot(url, title, tuple(Text(item) if isinstance(item, str) else item for item in items))
    return Observation(url, title, render(snapshot, rendering), snapshot.elements, texts=snapshot.texts)
