"""Our scripts in a page, in a world of their own: they share its DOM and nothing else.

What a page has done to `JSON`, `Array` or the prototypes of the DOM does not reach this world, and the page finds no
trace of it: it can neither read what is observed nor forge it. The scripts are installed once a document.
One alone runs in the page's own world, for timers can be counted only there: pending.js decides how long we wait.
"""

from __future__ import annotations

import asyncio
import json
from importlib import resources
from typing import TYPE_CHECKING, Any

from clickgrad.errors import PageError

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

_WORLD = "clickgrad"
_PLACE = "Symbol.for('clickgrad')"
_TOOLS = ("reach", "describe", "clickable", "front")  # each makes functions that those after it use
_SCRIPTS = ("observe", "hear", "act", "settle", "text", "title")
_CALL = "function (name, argument) { return this(name, argument); }"
_FIRST_CALL = f"function (name, argument) {{ return globalThis[{_PLACE}](name, argument); }}"
_LOOK = "function (argument, counts, ...nodes) { this('hear', { counts, nodes }); return this('observe', argument); }"
_KINDS = {  # of listeners, by where our scripts keep those who have them
    "heard": frozenset(
        {"click", "mousedown", "mouseup", "pointerdown", "pointerup", "dblclick", "touchstart", "touchend"}
    ),
    "dragged": frozenset({"dragstart"}),
    "dropped": frozenset({"drop"}),
}
_EVERYTHING = 16  # kinds of events; React listens to some seventy
_HEARD_AT_ONCE = 200  # each costs a third of a millisecond, once


def _load_script(name: str) -> str:
    """Without indentation and comments, which would travel along for every document."""
    text = resources.files("clickgrad.browser").joinpath(f"{name}.js").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def pending_script(channel: str, ahead_ms: float) -> str:
    """For every document before its own scripts: counts what is pending, and answers on the channel."""
    return f"({_load_script('pending')})({json.dumps(channel)}, {ahead_ms})"


def _bundle() -> str:
    """A function of a script's name and argument, the same one for as long as the document lasts.

    `kept` is what one script leaves for another. It hangs on a symbol, for a name could be that of an element.
    """
    scripts = ",\n".join(f"{name}: {_load_script(name)}" for name in _SCRIPTS)
    tools = "\n".join(f"Object.assign(reach, ({_load_script(name)})(reach, kept));" for name in _TOOLS)
    listeners = ", ".join(f"{name}: new Set()" for name in _KINDS)
    return (
        f"globalThis[{_PLACE}] ??= (() => {{\n"
        f"const kept = {{ refs: [], scrollers: null, aim: null, {listeners} }};\n"
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
        self._known: set[tuple[str, int]] = set()  # listeners that our scripts were told of

    def forget(self) -> None:
        """Another document has come; what is known of the last one would be asked in vain."""
        self._scripts, self._document = "", ""
        self._known.clear()

    async def find_frame(self) -> None:
        """Ahead of need: where documents will come. The frame stays while they go."""
        if not self._frame:
            self._frame = (await self._protocol.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]

    async def look(self, argument: object) -> object:
        """What is observed. Our scripts are told first which elements listen to clicks, to dragging and to what is
        dropped: their world does not see the page's listeners.

        The browser knows them, whatever a page does: nothing of the page is run, and it notices nothing.
        """
        from playwright.async_api import Error

        try:
            if not self._scripts:
                await self._install()
            whole = {"objectId": self._document, "depth": -1, "pierce": True}
            listeners = (await self._protocol.send("DOMDebugger.getEventListeners", whole))["listeners"]
            found = await asyncio.gather(
                *(self._find_new(name, _nodes(listeners, kinds)) for name, kinds in _KINDS.items())
            )
            counts = {name: len(nodes) for name, nodes in zip(_KINDS, found, strict=True)}
            nodes = ({"objectId": node} for kind in found for node in kind)
            told = [{"value": argument}, {"value": counts}, *nodes]
            call = {"objectId": self._scripts, "functionDeclaration": _LOOK, "returnByValue": True}
            answer = await self._protocol.send("Runtime.callFunctionOn", {**call, "arguments": told})
        except Error:
            self.forget()
            raise
        return _value(answer, "observe")

    async def inspect(self, source: str, nodes: list[int]) -> object:
        """What a function of `reach`, `kept` and these nodes returns: for those who measure what is seen."""
        found = await self._resolve(nodes)
        declared = f"function (...nodes) {{ const {{ reach, kept }} = this(); return ({source})(nodes, reach, kept); }}"
        call = {"objectId": self._scripts, "functionDeclaration": declared, "returnByValue": True}
        answer = await self._protocol.send(
            "Runtime.callFunctionOn", {**call, "arguments": [{"objectId": node} for node in found]}
        )
        return _value(answer, "inspecting")

    async def _find_new(self, kind: str, nodes: list[int]) -> list[str]:
        new = [node for node in nodes if (kind, node) not in self._known][:_HEARD_AT_ONCE]
        found = await self._resolve(new)
        self._known.update((kind, node) for node in new)
        return found

    async def _resolve(self, nodes: list[int]) -> list[str]:
        """As objects of our world. What has left the page meanwhile is left out."""
        ask = {"executionContextId": self._context}
        found = await asyncio.gather(
            *(self._protocol.send("DOM.resolveNode", {"backendNodeId": node, **ask}) for node in nodes),
            return_exceptions=True,
        )
        return [one["object"]["objectId"] for one in found if isinstance(one, dict)]

    async def call(self, script: str, argument: object) -> object:
        """What a script returns. A document that goes away meanwhile is an error of Playwright's: ask its successor."""
        from playwright.async_api import Error

        call = {
            "arguments": [{"value": script}, {"value": argument}],
            "awaitPromise": True,
            "returnByValue": True,
        }
        try:
            if self._scripts:
                ask = {"objectId": self._scripts, "functionDeclaration": _CALL, **call}
                answer = await self._protocol.send("Runtime.callFunctionOn", ask)
            else:
                answer = await self._install({"functionDeclaration": _FIRST_CALL, **call})
        except Error:
            self._frame = "" if not self._scripts else self._frame
            self.forget()
            raise
        return _value(answer, script)

    async def _install(self, first_call: dict[str, object] | None = None) -> dict[str, Any]:
        """Our scripts in the document that is there, and a first call of them without waiting in between."""
        from playwright.async_api import Error

        await self.find_frame()
        context = await self._make()
        send, none = self._protocol.send, {"expression": "undefined", "contextId": context}
        calling = {"executionContextId": context, **first_call} if first_call else none
        installed, document, answer, again = await asyncio.gather(
            send("Runtime.evaluate", {"expression": _INSTALL, "contextId": context}),
            send("Runtime.evaluate", {"expression": "document"}),
            send("Runtime.callFunctionOn" if first_call else "Runtime.evaluate", calling),
            self._make(),
        )
        # A document of another process may have come before, and the number may be that of its own scripts' world.
        if context != again:
            raise Error("the document went away")
        if "exceptionDetails" in installed:
            raise PageError(f"the page does not take our scripts: {_told(installed)}")
        self._context = context
        self._document = document["result"]["objectId"]
        self._scripts = str(installed["result"]["objectId"])
        return dict(answer)

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


def _value(answer: dict[str, Any], script: str) -> object:
    if "exceptionDetails" in answer:
        raise PageError(f"the script {script} failed: {_told(answer)}")
    return answer["result"].get("value")


def _told(answer: dict[str, dict[str, dict[str, str]]]) -> str:
    thrown = answer["exceptionDetails"].get("exception", {}).get("description", "without a reason")
    return thrown.splitlines()[0]
