"""What people do besides the paper's actions: keys, dragging, panes, files and dialogs. Only with `Abilities.full`."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clickgrad.browser.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Dialog

NO_FILE = "The page asked for a file, and there is none to give."
CHOOSER_S = 1.0
FILES_TOLD = 12
DRAG_STEPS = 3
DWELL_S = 0.2
_DIALOG_CHARS = 300
_NAMED_KEYS = (
    "Enter|Tab|Escape|Backspace|Delete|Insert|Space|Home|End|PageUp|PageDown|ArrowUp|ArrowDown|ArrowLeft|ArrowRight"
)
_KEYS = re.compile(rf"(?:(?:Control|Shift|Alt|Meta)\+){{0,4}}(?:{_NAMED_KEYS}|F(?:[1-9]|1[0-2])|[!-~])")


@dataclass(frozen=True, slots=True)
class Abilities:
    """Whether all actions can be performed, and from which folder files may be given."""

    full: bool = False
    files: Path | None = None


async def prepare(tab: Tab, verb: str, element: int, text: str = "") -> tuple[str, float, float, bool]:
    """What act.js says: a notice, or a point and whether keys are to follow."""
    answer = json.loads(str(await tab.call("act", {"verb": verb, "id": element, "text": text})))
    return answer["notice"], answer.get("x", 0.0), answer.get("y", 0.0), answer.get("keys", False)


async def press(tab: Tab, keys: str) -> str:
    if not _KEYS.fullmatch(keys):
        return f'"{keys[:40]}" is no key: write it as Escape, a, Control+A or Shift+Tab.'
    await tab.page.keyboard.press(keys)
    return ""


async def double_click(tab: Tab, element: int) -> str:
    notice, x, y, _ = await prepare(tab, "double click", element)
    if not notice:
        await tab.click(x, y, times=2)
    return notice


async def drag(tab: Tab, element: int, to: int) -> str:
    for one in (element, to):
        notice = (await prepare(tab, "point", one))[0]
        if notice:
            return notice
    # Bringing the second into view may have moved the first.
    notice, x, y, _ = await prepare(tab, "place", element)
    far, to_x, to_y, _ = await prepare(tab, "place", to)
    if notice or far:
        return f"Elements {element} and {to} cannot be seen at the same time."
    await _drag(tab, (x, y), (to_x, to_y))
    await asyncio.sleep(DWELL_S)  # some look only now and then where it is
    await tab.page.mouse.up()
    return ""


async def _drag(tab: Tab, start: tuple[float, float], end: tuple[float, float]) -> None:
    mouse = tab.page.mouse
    await mouse.move(*start)
    await mouse.down()
    for step in range(1, DRAG_STEPS + 1):  # pages take a single leap for no drag
        part = step / DRAG_STEPS
        await mouse.move(start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1]))
    await mouse.move(end[0] + 1, end[1])


class FileGiver:
    """Answers a page that asks for a file: with the one that an action offers, or with none."""

    def __init__(self, files: Path | None, tell: Callable[[str], None]) -> None:
        self._files = files
        self._tell = tell
        self._offer: Path | None = None
        self._given = asyncio.Event()

    def on_chooser(self, tab: Tab, asked: dict[str, int]) -> asyncio.Future[None] | None:
        if self._offer is None:
            self._tell(NO_FILE)
            return None
        return asyncio.ensure_future(self._give(tab, self._offer, asked["backendNodeId"]))

    async def _give(self, tab: Tab, file: Path, node: int) -> None:
        protocol = await tab.protocol()
        await protocol.send("DOM.setFileInputFiles", {"files": [str(file)], "backendNodeId": node})
        self._given.set()

    async def upload(self, tab: Tab, element: int, name: str) -> str:
        """Click the element, and give the file when the page asks for one."""
        file = self._find(name)
        if isinstance(file, str):
            return file
        notice, x, y, _ = await prepare(tab, "upload", element)
        if notice:
            return notice
        self._offer = file
        self._given.clear()
        try:
            await tab.click(x, y)
            async with asyncio.timeout(CHOOSER_S):
                await self._given.wait()
        except TimeoutError:
            return f"Element {element} asked for no file."
        finally:
            self._offer = None
        return ""

    def _find(self, name: str) -> Path | str:
        """The file, or why there is none. A name that leads out of the folder is none."""
        if self._files is None:
            return "There are no files to give: agent.files names the folder of those that may be."
        folder = self._files.resolve()
        file = (folder / name).resolve()
        if file.is_relative_to(folder) and file.is_file():
            return file
        names = sorted(one.name for one in folder.iterdir() if one.is_file())[:FILES_TOLD] if folder.is_dir() else []
        return f'There is no file "{name[:60]}". There are: {", ".join(names) or "none"}.'


class OpenDialog:
    """A question of the page that waits for an answer. Until then nothing else of the page can be seen or done."""

    def __init__(self) -> None:
        self._dialog: Dialog | None = None
        self.came = asyncio.Event()

    @property
    def is_open(self) -> bool:
        return self._dialog is not None

    def open(self, dialog: Dialog) -> None:
        self._dialog = dialog
        self.came.set()

    def lines(self) -> tuple[str, ...]:
        assert self._dialog
        message = " ".join(self._dialog.message.split())[:_DIALOG_CHARS]
        preset = f' The field holds "{self._dialog.default_value}".' if self._dialog.default_value else ""
        return (f'dialog ({self._dialog.type}): "{message}"{preset} Answer with Accept Dialog or Dismiss Dialog.',)

    async def answer(self, accept: bool, text: str) -> str:
        if self._dialog is None:
            return "There is no dialog to answer."
        dialog, self._dialog = self._dialog, None
        self.came.clear()
        if accept:
            await dialog.accept(text or dialog.default_value)
        else:
            await dialog.dismiss()
        return ""
