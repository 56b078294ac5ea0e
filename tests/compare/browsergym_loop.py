"""BrowserGym's own loop on the MiniWoB++ tasks of `clickgrad bench browser`, with the same Chromium: turns per second.

BrowserGym lives in an environment of its own, with the Playwright it asks for, and is used for nothing else:

    python -m venv /tmp/bg && /tmp/bg/bin/pip install browsergym-core==0.14.3 browsergym-miniwob==0.14.3
    .venv/bin/clickgrad bench browser --episodes 50 --json > ours.json
    /tmp/bg/bin/python tests/compare/browsergym_loop.py ours.json

Its settings are its defaults: a browser for every episode, half a second before every observation. Many at once are
processes, as its synchronous Playwright wants it. Both sides do the same: reset, see the page before every action,
click or fill what the page asks for, end when the page says so. `turns_per_s` counts from reset to the end of the
episode, `acting_turns_per_s` only the turns: an action and an observation each.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import multiprocessing
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

PAGES = ("click-test-2", "click-button", "enter-text", "login-user")
CHROMIUM = "/usr/lib/chromium/chromium-headless-shell"
HTML = next(Path(__file__).parents[2].glob(".venv/lib/python3*/site-packages/miniwob/html"), Path("miniwob/html"))


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass


def serve(folder: Path) -> str:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/miniwob/"


def offer_chromium(folder: Path) -> None:
    """BrowserGym's chat window is a second browser of every episode, which takes only Playwright's own."""
    import playwright

    listed = json.loads((Path(playwright.__file__).parent / "driver" / "package" / "browsers.json").read_text())
    revision = next(one["revision"] for one in listed["browsers"] if one["name"] == "chromium")
    program = folder / f"chromium-{revision}" / "chrome-linux" / "chrome"
    program.parent.mkdir(parents=True)
    program.symlink_to(CHROMIUM)
    os.environ["PLAYWRIGHT_BROWSERS_PATH"] = str(folder)


def wanted(page: str, goal: str) -> Iterator[tuple[str, str, str]]:
    """What to do, as (verb, role and place or name, text)."""
    quoted = re.findall(r'"([^"]*)"', goal)
    match page:
        case "click-test-2":
            yield from (("click", f"button {name}", "") for name in re.findall(r"button ([A-Z]+)", goal))
        case "click-button":
            yield "click", f"button {quoted[0]}", ""
        case "enter-text":
            yield "fill", "textbox 0", quoted[0]
            yield "click", "button Submit", ""
        case "login-user":
            yield "fill", "textbox 0", quoted[0]
            yield "fill", "textbox 1", quoted[1]
            yield "click", "button Login", ""


def element(observation: dict, what: str) -> str:
    role, _, name = what.partition(" ")
    nodes = [node for node in observation["axtree_object"]["nodes"] if node.get("role", {}).get("value") == role]
    nodes = [node for node in nodes if "browsergym_id" in node]
    if name.isdigit() and role == "textbox":
        return nodes[int(name)]["browsergym_id"]
    return next(node["browsergym_id"] for node in nodes if node["name"]["value"].lower() == name.lower())


def play(page: str, seed: int, delay_s: float) -> tuple[int, float, float, float]:
    """Turns, reward, and the seconds that the reset took and the turns took."""
    import browsergym.miniwob  # noqa: F401
    import gymnasium

    env = gymnasium.make(
        f"browsergym/miniwob.{page}",
        pw_chromium_kwargs={"executable_path": CHROMIUM, "chromium_sandbox": False},
        pre_observation_delay=delay_s,
        disable_env_checker=True,
    )
    turns, reward, turns_s, started = 0, 0.0, 0.0, time.perf_counter()
    observation, _ = env.reset(seed=seed)
    reset_s = time.perf_counter() - started
    for verb, what, text in wanted(page, observation["goal"]):
        bid = element(observation, what)
        action = f"click({bid!r})" if verb == "click" else f"fill({bid!r}, {text!r})"
        started = time.perf_counter()
        observation, reward, over, _, _ = env.step(action)
        turns_s += time.perf_counter() - started
        turns += 1
        if over:
            break
    env.close()
    return turns, float(reward), reset_s, turns_s


def work(jobs: list[tuple[str, int]], delay_s: float, ready: object, results: object) -> None:
    play(*jobs[0], delay_s)  # imports, the driver and the first pages are not counted
    ready.wait()  # type: ignore[attr-defined]
    for page, seed in jobs:
        results.put(play(page, seed, delay_s))  # type: ignore[attr-defined]


def measure(processes: int, seeds: int, delay_s: float) -> dict[str, float]:
    """All of them start on their first episode together."""
    jobs = [(page, seed) for seed in range(seeds) for page in PAGES]
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(processes + 1), context.Queue()
    shares = [jobs[number::processes] for number in range(processes)]
    workers = [context.Process(target=work, args=(share, delay_s, ready, results)) for share in shares]
    for worker in workers:
        worker.start()
    ready.wait(timeout=120)
    started = time.perf_counter()
    played = [results.get(timeout=120) for _ in jobs]
    seconds = time.perf_counter() - started
    for worker in workers:
        worker.join(30)
    resets = sorted(reset_s for _, _, reset_s, _ in played)
    turns = sum(turns for turns, *_ in played)
    return {
        "episodes": len(played),
        "passed": sum(reward > 0 for _, reward, _, _ in played),
        "turns": turns,
        "turns_per_s": turns / seconds,
        "acting_turns_per_s": processes * turns / sum(turns_s for *_, turns_s in played),
        "reset_s_p50": resets[len(resets) // 2],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours", type=Path, nargs="?", help="what `clickgrad bench browser --json` printed")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--delay", type=float, default=0.5, help="before every observation (BrowserGym's default: 0.5)")
    options = parser.parse_args()
    os.environ["MINIWOB_URL"] = serve(HTML)
    offer_chromium(Path(tempfile.mkdtemp(prefix="browsergym-")))
    ours = json.loads(options.ours.read_text().splitlines()[-1]) if options.ours else {}
    for at_once, target in ((1, 10), (4, 6)):
        figures = measure(at_once, options.seeds, options.delay)
        print(f"BrowserGym, {at_once} at once: " + json.dumps({name: round(v, 3) for name, v in figures.items()}))
        for name in ("acting_turns_per_s", "turns_per_s"):
            if mine := ours.get(f"{name}_{at_once}"):
                print(f"ours: {name} {mine}, {mine / figures[name]:.1f} times as many (wanted: {target})")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
