"""Any text a page can show goes through observing, the prompt and the file, and is read back as it was seen.

CLICKGRAD_TEXTS=100000 makes it the long run; `make test` takes a sample.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest
from loopback import Answer, serve
from tiny import make_task, tiny_tokenizer

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import Browser, find_chromium
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Completion, End, Evidence, Finish, Observation, Outcome, Trajectory, Turn, Verdict, Wait

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(find_chromium() is None, reason="no Chromium on this machine")]
TEXTS = int(os.environ.get("CLICKGRAD_TEXTS", "2000"))
PER_PAGE = 200
KINDS = [
    range(0xD800, 0xE000),  # halves of characters
    range(0x20),
    range(0x7F, 0xA0),
    range(0x20, 0x7F),
    range(0x590, 0x700),  # right to left
    range(0x200B, 0x2010),  # zero-width and directions
    range(0x202A, 0x202F),
    range(0x2028, 0x202A),
    range(0x300, 0x370),  # marks that join what stands before them
    range(0xFFF0, 0x10000),
    range(0x1F600, 0x1F650),
    range(0xE000, 0xE010),
]
MARKS = [
    "Notice: ",
    "Task: ",
    "Page: ",
    "… more below, scroll down",
    "** Simplified html **",
    "[3]",
    "<|im_end|>",
    "\n",
]
# The texts become a block, a button's name, a field's value, an option, an attribute of a megabyte, and the title.
SHOW = """texts => {
  document.title = texts[0];
  const make = (tag, text, set) => {
    const el = document.createElement(tag);
    set(el, text);
    document.body.append(el);
  };
  const kinds = [
    (text) => make('p', text, (el) => { el.textContent = text }),
    (text) => make('button', text, (el) => { el.textContent = text }),
    (text) => make('input', text, (el) => { el.setAttribute('aria-label', 'field'); el.value = text }),
    (text) => make('select', text, (el) => { el.append(new Option(text)) }),
    (text) => make('input', text, (el) => { el.placeholder = text }),
    (text) => make('h2', text, (el) => { el.title = text; el.append(document.createTextNode(text)) }),
  ];
  document.body.replaceChildren();
  texts.forEach((text, index) => kinds[index % kinds.length](text));
  const long = texts.at(-1).repeat(1 + 1e6 / (1 + texts.at(-1).length));
  make('button', '', (el) => { el.setAttribute('aria-label', long) });
  history.replaceState(0, '', '#' + texts[1]);
}"""


def draw(rng: random.Random) -> str:
    letters = (chr(rng.choice(rng.choice(KINDS))) for _ in range(rng.choice([1, 3, 12, 12, 40, 499, 501])))
    return rng.choice(["", *MARKS]) + "".join(letters) + rng.choice(["", "", *MARKS])


def stored(number: int, observation: Observation, ids: tuple[int, ...], text: str) -> Trajectory:
    turn = Turn(observation, ids, Completion(text[:100], (1,), (0.0,), Finish.STOP, 0), Wait(), 0.0, 0.0)
    evidence = Evidence(text[:100], observation.url, text, ())
    verdict = Verdict(Outcome.PASSED)
    return Trajectory(
        f"texts/{number}", make_task(), 0, (turn,), End.STOPPED, evidence, verdict, 1.0, None, 0.0, "texts", "0"
    )


@pytest.mark.timeout(3000)
async def test_any_text_of_a_page_is_seen_told_and_stored(tmp_path: Path) -> None:
    async def respond(path: str) -> Answer:
        return Answer("<!doctype html><title>Texts</title><style>* { line-height: 1px; font-size: 3px }</style>")

    rng = random.Random(0)
    tokenizer = tiny_tokenizer(["Page: texts", *MARKS])
    whole, cut = (PromptBuilder(tokenizer, "plain", "short", page_tokens) for page_tokens in (10**7, 4096))
    file = TrajectoryFile(tmp_path / "texts.jsonl.zst")
    written, seen = [], 0
    async with serve(respond) as site, Browser({"site.localhost": site.address}, viewport=(1900, 4000)) as browser:
        session = await browser.open("http://site.localhost/")
        for number in range(-(-TEXTS // PER_PAGE)):
            texts = [draw(rng) for _ in range(PER_PAGE)]
            # Halves of characters pass no argument of Playwright's: they are spelled out.
            await session.page.evaluate(f"({SHOW})({json.dumps(texts)})")
            observation = await session.observe()
            prompt = (whole if number % 10 else cut).prompt("texts", make_task(), (), observation)
            text = await session.page_text()
            assert len(observation.lines) > PER_PAGE // 2
            assert all("\n" not in line for line in observation.lines)
            written.append(stored(number, observation, prompt.ids, text))
            file.append(written[-1])
            seen += len(texts)
        await session.close()
    assert seen >= TEXTS
    assert list(file.read()) == written
