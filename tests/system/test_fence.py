"""A hostile page tries every way it knows to another server on loopback, which neither sees a request nor a connection.

The browser knows that server under a name, for other sessions; this session's task does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from loopback import Answer, Loopback, SiteVenue, serve

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import Browser, Session, find_chromium
from clickgrad.codec import from_plain, to_plain
from clickgrad.errors import BrowserError
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.rollout.episode import Agent, Limits, run_episode
from clickgrad.types import BlockedHost, Click, End, GoBackward, Task, Trajectory, Wait

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(find_chromium() is None, reason="no Chromium on this machine")]
HOME = "http://inside.localhost"
BY_ITSELF = (  # what the page tries at once, without a click
    "fetch",
    "request",
    "image",
    "script",
    "style",
    "frame",
    "object",
    "video",
    "beacon",
    "events",
    "socket",
    "prefetch",
    "worker",
    "refresh",
    "redirected-image",
    "redirected-frame",
)
BY_CLICK = ("link", "redirected-link", "form", "assigned", "window")  # the last one leaves for another tab
PAGE = """<!doctype html><title>Hostile</title><p id="log">Trying</p>
<a href="OUT/link">link</a> <a href="/to?OUT/redirected-link">redirected-link</a>
<form action="OUT/form" method="post"><button>form</button></form>
<button onclick="location = 'OUT/assigned'">assigned</button>
<button onclick="window.open('OUT/window')">window</button>
<script>
const settled = [];
function add(tag, attributes) {
  document.body.append(Object.assign(document.createElement(tag), attributes));
}
function attack(out) {
  settled.push(fetch(out + "/fetch", { mode: "no-cors" }), fetch(out + "/fetch", { method: "PUT" }));
  const request = new XMLHttpRequest(); request.open("GET", out + "/request"); request.send();
  add("img", { src: out + "/image" });
  add("img", { src: "/to?" + out + "/redirected-image" });
  add("script", { src: out + "/script" });
  add("link", { rel: "stylesheet", href: out + "/style" });
  add("link", { rel: "prefetch", href: out + "/prefetch" });
  add("link", { rel: "preconnect", href: out });
  add("link", { rel: "dns-prefetch", href: out });
  add("iframe", { src: out + "/frame" });
  add("iframe", { src: "/to?" + out + "/redirected-frame" });
  add("iframe", { srcdoc: `<meta http-equiv="refresh" content="0; url=${out}/refresh">` });
  add("object", { data: out + "/object" });
  add("video", { src: out + "/video", preload: "auto" });
  navigator.sendBeacon(out + "/beacon", "x");
  new EventSource(out + "/events");
  new WebSocket(out.replace("http", "ws") + "/socket");
  const code = `fetch("${out}/worker", { mode: "no-cors" }).catch(() => 0).then(() => postMessage(1))`;
  const worker = new Worker(URL.createObjectURL(new Blob([code])));
  settled.push(new Promise((done) => { worker.onmessage = done; }));
  const host = new URL(out).host, turn = { urls: `turn:${host}?transport=tcp`, username: "u", credential: "p" };
  const peer = new RTCPeerConnection({ iceServers: [{ urls: `stun:${host}` }, turn] });
  peer.createDataChannel("x");
  settled.push(peer.createOffer().then((offer) => peer.setLocalDescription(offer)));
}
"ALL".split(" ").forEach(attack);
if (navigator.serviceWorker) settled.push(navigator.serviceWorker.register("/service.js"));
Promise.allSettled(settled).then(() => { document.getElementById("log").textContent = "Tried"; });
</script>
"""


async def inside(path: str) -> Answer:
    """`/?<origins>` is the hostile page aimed there, `/to?<url>` redirects, `/quiet?<url>` asks for two images only."""
    way, _, target = path.partition("?")
    if way == "/to":
        return Answer(status=302, headers=(("Location", target),))
    if way == "/quiet":
        links = (
            f'<a href="{target}">leave</a> <a href="file:///etc/passwd">file</a> <a href="chrome://version">chrome</a>'
        )
        return Answer(f'<title>Quiet</title>{links}<img src="{target}1"><img src="{target}2">')
    targets = target.split("+")
    return Answer(PAGE.replace("OUT", targets[0]).replace("ALL", " ".join(targets)))


async def outside(path: str) -> Answer:
    return Answer("<title>Outside</title>")


@asynccontextmanager
async def two_servers() -> AsyncIterator[tuple[Browser, Loopback]]:
    async with serve(inside) as site, serve(outside) as other:
        hosts = {"inside.localhost": site.address, "also.localhost": other.address, other.address: other.address}
        async with Browser(hosts, timeout_s=15.0) as browser:
            yield browser, other


def ways_in(port: int) -> tuple[str, ...]:
    names = ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0x7f000001", "127.1", "inside.localhost")
    return ("http://also.localhost", *(f"http://{name}:{port}" for name in names))


async def attack(session: Session) -> dict[str, str]:
    """Everything the page tries by itself, then every click; the notices by what was clicked."""
    async with asyncio.timeout(60):
        while "Tried" not in "\n".join((await session.observe()).lines):
            await session.perform(Wait())
    notices = {}
    for name in BY_CLICK:
        elements = (await session.observe()).elements
        notices[name] = await session.perform(Click(next(one.id for one in elements if one.name == name)))
        await session.perform(GoBackward())
    return notices


async def test_where_the_fence_lets_it_every_attempt_of_the_page_arrives() -> None:
    async with two_servers() as (browser, other):
        session = await browser.open(f"{HOME}/?http://{other.address}")
        await attack(session)
        assert {path.strip("/") for path in other.paths} >= {*BY_ITSELF, *BY_CLICK}
        assert session.blocked == ()


async def test_no_way_leads_out_of_the_sessions_hosts() -> None:
    async with two_servers() as (browser, other):
        targets = ways_in(other.port)
        session = await browser.open(f"{HOME}/?{'+'.join(targets)}", hosts=["inside.localhost"])
        notices = await attack(session)
        assert (other.connections, other.paths) == (0, [])
        for name in BY_CLICK:
            assert notices[name] == (
                f"http://also.localhost/{name} could not be opened: it is outside the sites of this task."
            )
        assert len(session.blocked) >= len({*targets}) - 2  # 0x7f000001 and 127.1 are other spellings
        assert sum(one.requests for one in session.blocked) >= len(BY_ITSELF) * len(targets) + len(BY_CLICK)


async def test_what_was_blocked_is_counted_by_host_and_told_in_the_trajectory() -> None:
    async with two_servers() as (browser, other):
        task = Task("t", "s", "test", ("inside",), "t", "Leave.", f"{HOME}/quiet?http://also.localhost/", ())
        policy = FixedPolicy("leaves", ['do(action="Click", element="0")', 'exit(message="")'])
        agent = Agent(policy, PromptBuilder(None, "plain", "short"), Limits(max_turns=5, max_new_tokens=64))
        trajectory = await run_episode("e", task, 0, agent, SiteVenue(browser, ["inside.localhost"]))
        assert trajectory.end is End.STOPPED
        assert trajectory.blocked == (BlockedHost("also.localhost", 3),)  # two images and the link
        notice = "http://also.localhost/ could not be opened: it is outside the sites of this task."
        assert trajectory.turns[1].observation.notice == notice
        assert other.connections == 0
        old = to_plain(trajectory)
        assert from_plain(Trajectory, old) == trajectory
        del old["blocked"]
        assert from_plain(Trajectory, old).blocked == ()


async def test_a_page_leads_neither_to_files_nor_into_the_browser_itself() -> None:
    async with two_servers() as (browser, _):
        session = await browser.open(f"{HOME}/quiet?/x", hosts=["inside.localhost"])
        for name in ("file", "chrome"):
            elements = (await session.observe()).elements
            await session.perform(Click(next(one.id for one in elements if one.name == name)))
            assert (await session.observe()).title == "Quiet"


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("file:///etc/passwd", ["inside.localhost"]),
        ("http://also.localhost/", ["inside.localhost"]),
        ("http://inside.localhost:81/", None),
        ("http://inside.localhost/", ["elsewhere.localhost"]),
    ],
)
async def test_a_session_cannot_be_opened_outside_its_own_fence(url: str, hosts: list[str] | None) -> None:
    browser = Browser({"inside.localhost": "127.0.0.1:9", "also.localhost": "127.0.0.1:9"})
    with pytest.raises(BrowserError, match=r"outside the hosts|does not know this host"):
        await browser.open(url, hosts=hosts)
