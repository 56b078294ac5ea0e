"""Our scripts in a page, in a world of their own: they share its DOM and nothing else.

What a page has done to `JSON`, `Array` or the prototypes of the DOM does not reach this world, and the page finds no
trace of it: it can neither read what is observed nor forge it. The scripts are installed once a document.
"""

from __future__ import annotations

import asyncio
from importlib import resources
from typing import TYPE_CHECKING, Any

from clickgrad.errors import PageError

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

_WORLD = "clickgrad"
_TOOLS = ("reach", "describe", "clickable", "front")  # each makes functions that those after it use
_SCRIPTS = ("observe", "hear", "act", "rest", "frame", "settle", "text", "title")
_CALL = "function (name, argument) { return this(name, argument); }"
_HEAR = "function (clicks, ...nodes) { this('hear', { clicks, nodes }); }"
_CLICKS = frozenset({"click", "mousedown", "mouseup", "pointerdown", "pointerup", "dblclick", "touchstart", "touchend"})
_DRAGS = frozenset({"dragstart"})
_EVERYTHING = 16  # kinds of events; React listens to some seventy
_HEARD_AT_ONCE = 200  # each costs a third of a millisecond, once


def _load_script(name: str) -> str:
    """Without indentation and comments, which would travel along for every document."""
    text = resources.files("clickgrad.browser").joinpath(f"{name}.js").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _bundle() -> str:
    """A function of a script's name and argument, the same one for as long as the document lasts.

    `kept` is what one script leaves for another. It hangs on a symbol, for a name could be that of an element.
    """
    scripts = ",\n".join(f"{name}: {_load_script(name)}" for name in _SCRIPTS)
    tools = "\n".join(f"Object.assign(reach, ({_load_script(name)})(reach, kept));" for name in _TOOLS)
    return (
        "globalThis[Symbol.for('clickgrad')] ??= (() => {\n"
        "const kept = { refs: [], scrollers: null, aim: null, heard: new Set(), dragged: new Set() };\n"
        f"const reach = {{}};\n{tools}\n"
        f"const scripts = {{ {scripts} }};\n"
        "return (name, argument) => name ? scripts[name](argument, reach, kept) : { reach, kept }; })()"
    )


_INSTALL = _bundle()


class IsolatedWorld:
    """Of the main document of one tab; made anew for every document that comes."""

    def __init__(self, protocol: CDPSession) -> None:
        self._protocol = protocol
        self._frame = ""
        self._scripts = ""  # the function in the page, by an id that no other document's can have
        self._context = 0
        self._document = ""  # the page's own, whose listeners are asked for
        self._heard: set[int] = set()

    def forget(self) -> None:
        """Another document has come; what is known of the last one would be asked in vain."""
        self._scripts, self._document = "", ""
        self._heard.clear()

    async def hear(self) -> None:
        """Tell our scripts which elements listen to clicks and dragging: their world does not see the page's listeners.

        The browser knows them, whatever a page does: nothing of the page is run, and it notices nothing.
        """
        from playwright.async_api import Error

        try:
            if not self._scripts:
                self._scripts = await self._install()
            if not self._document:
                found = await self._protocol.send("Runtime.evaluate", {"expression": "document"})
                self._document = found["result"]["objectId"]
            whole = {"objectId": self._document, "depth": -1, "pierce": True}
            listeners = (await self._protocol.send("DOMDebugger.getEventListeners", whole))["listeners"]
            clicks = await self._resolve(_nodes(listeners, _CLICKS))
            drags = await self._resolve(_nodes(listeners, _DRAGS))
            if clicks or drags:
                arguments = [{"value": len(clicks)}, *({"objectId": node} for node in clicks + drags)]
                call = {"objectId": self._scripts, "functionDeclaration": _HEAR, "arguments": arguments}
                await self._protocol.send("Runtime.callFunctionOn", call)
        except Error:
            self.forget()
            raise

    async def inspect(self, source: str, nodes: list[int]) -> object:
        """What a function of `reach`, `kept` and these nodes returns: for those who measure what is seen."""
        self._heard -= set(nodes)
        found = await self._resolve(nodes)
        declared = f"function (...nodes) {{ const {{ reach, kept }} = this(); return ({source})(nodes, reach, kept); }}"
        call = {"objectId": self._scripts, "functionDeclaration": declared, "returnByValue": True}
        answer = await self._protocol.send(
            "Runtime.callFunctionOn", {**call, "arguments": [{"objectId": node} for node in found]}
        )
        if "exceptionDetails" in answer:
            raise PageError(f"inspecting the page failed: {_told(answer)}")
        return answer["result"].get("value")

    async def _resolve(self, nodes: list[int]) -> list[str]:
        """As objects of our world. What has left the page meanwhile is left out."""
        new = [node for node in nodes if node not in self._heard][:_HEARD_AT_ONCE]
        ask = {"executionContextId": self._context}
        found = await asyncio.gather(
            *(self._protocol.send("DOM.resolveNode", {"backendNodeId": node, **ask}) for node in new),
            return_exceptions=True,
        )
        self._heard.update(new)
        return [one["object"]["objectId"] for one in found if isinstance(one, dict)]

    async def call(self, script: str, argument: object) -> object:
        """What a script returns. A document that goes away meanwhile is an error of Playwright's: ask its successor."""
        from playwright.async_api import Error

        try:
            if not self._scripts:
                self._scripts = await self._install()
            answer = await self._protocol.send(
                "Runtime.callFunctionOn",
                {
                    "objectId": self._scripts,
                    "functionDeclaration": _CALL,
                    "arguments": [{"value": script}, {"value": argument}],
                    "awaitPromise": True,
                    "returnByValue": True,
                },
            )
        except Error:
            self._frame = "" if not self._scripts else self._frame
            self.forget()
            raise
        if "exceptionDetails" in answer:
            raise PageError(f"the script {script} failed: {_told(answer)}")
        return answer["result"].get("value")

    async def _install(self) -> str:
        from playwright.async_api import Error

        if not self._frame:
            self._frame = (await self._protocol.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        context = await self._make()
        answer, again = await asyncio.gather(
            self._protocol.send("Runtime.evaluate", {"expression": _INSTALL, "contextId": context}), self._make()
        )
        # A document of another process may have come in between, and the number may be that of its own scripts' world.
        if context != again:
            raise Error("the document went away")
        if "exceptionDetails" in answer:
            raise PageError(f"the page does not take our scripts: {_told(answer)}")
        self._context = context
        return str(answer["result"]["objectId"])

    async def _make(self) -> int:
        """The number of the world; asked again, the same one as long as the document is the same."""
        made = await self._protocol.send("Page.createIsolatedWorld", {"frameId": self._frame, "worldName": _WORLD})
        return int(made["executionContextId"])


def _nodes(listeners: list[dict[str, Any]], kinds: frozenset[str]) -> list[int]:
    """Those that listen to one of these. A root at which a framework hears everything is none to be clicked itself."""
    heard: dict[int, set[str]] = {}
    for one in listeners:
        if (node := one.get("backendNodeId")) is not None:
            heard.setdefault(node, set()).add(one["type"])
    return [node for node, types in heard.items() if types & kinds and len(types) < _EVERYTHING]


def _told(answer: dict[str, dict[str, dict[str, str]]]) -> str:
    thrown = answer["exceptionDetails"].get("exception", {}).get("description", "without a reason")
    return thrown.splitlines()[0]
