"""Our WebArena checks against the public evaluators, task by task, on right, wrong and nearly right ends.

Not part of the test run. In an environment of its own:

    python3.11 -m venv /tmp/envs/webarena
    /tmp/envs/webarena/bin/pip install libwebarena browsergym-webarenalite beautifulsoup4 pydantic httpx
    NLTK_DATA=<folder with tokenizers/punkt_tab> PYTHONPATH=src /tmp/envs/webarena/bin/python \
        tests/compare/webarena_evaluators.py

NLTK's data cannot be had from PyPI by itself; the wheel of llama-index-core 0.14.0 carries it in _static/nltk_cache.

The public code runs as it is, on pages that are tables of what each script finds. Three things are replaced, on both
sides alike: the network below the judge and below the shop's interface, and the evaluators' three seconds of sleep.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from webarena_endings import MUMBLING, ORDER_ID, SITES, Doc, Ending, endings, right_ending

os.environ |= SITES | {f"WA_{name}": url for name, url in SITES.items()} | {"OPENAI_API_KEY": "none"}

import httpx
import webarena.evaluation_harness.evaluators as full_evaluators
import webarena.evaluation_harness.helper_functions as full_helpers
from browsergym.webarenalite import evaluators as lite_evaluators
from browsergym.webarenalite import helper_functions as lite_helpers

from clickgrad.rollout.webarena_probes import ScriptFailed, gather_probes
from clickgrad.rollout.webarena_services import Judge, Magento
from clickgrad.tasks.checks import judge
from clickgrad.tasks.webarena.checks import questions
from clickgrad.tasks.webarena.files import FULL, LITE, _entries, _find
from clickgrad.tasks.webarena.reading import read_task
from clickgrad.tasks.webarena.sites import read_sites
from clickgrad.tasks.webarena.tokens import stands_alone
from clickgrad.types import Evidence, Task
from clickgrad.webarena import ProgramHtml

PAGES_OF = ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB", "WIKIPEDIA", "MAP")
THROWS = object()
FUZZED = 200_000

# --- the end of an episode, as both sides see it --------------------------------------------------------------------


class PublicPage:
    """As much of Playwright's page as the evaluators use."""

    def __init__(self, ending: Ending, url: str) -> None:
        self._ending, self.url = ending, url
        self.context = self

    def new_page(self) -> PublicPage:
        return PublicPage(self._ending, "about:blank")

    def goto(self, url: str) -> None:
        self.url = url

    def close(self) -> None:
        pass

    def content(self) -> str:
        return self._ending.doc(self.url).html

    def evaluate(self, script: str) -> Any:
        doc = self._ending.doc(self.url)
        if account := re.search(r"=== '@(.*)'\)", script):
            names = [name for name, _ in doc.members]
            return names.index(account[1]) if account[1] in names else -1
        if place := re.search(r'col-max-role span"\)\[(-?\d+)\]', script):
            if not 0 <= int(place[1]) < len(doc.members):
                raise RuntimeError("undefined has no outerText")
            return doc.members[int(place[1])][1]
        return _found(doc, script)


class Standing(full_helpers.PseudoPage):
    """The evaluators insist on their types, and the address must follow the page."""

    def __init__(self, page: PublicPage) -> None:
        self.original_page = page

    url = property(lambda self: self.original_page.url)  # type: ignore[assignment]


class LiteStanding(lite_helpers.PseudoPage):
    __init__ = Standing.__init__
    url = property(lambda self: self.original_page.url)  # type: ignore[assignment]


class OurPlace:
    def __init__(self, ending: Ending, url: str) -> None:
        self._ending, self.url = ending, url

    async def go(self, url: str) -> None:
        self.url = url

    async def html(self) -> str:
        return self._ending.doc(self.url).html

    async def run(self, function: str, argument: str | None = None) -> object:
        doc = self._ending.doc(self.url)
        try:
            return dict(doc.members)[argument] if argument is not None else _found(doc, function)
        except (KeyError, RuntimeError):
            raise ScriptFailed from None


def _found(doc: Doc, script: str) -> Any:
    value = doc.found.get(script.removeprefix("() => "), THROWS)
    if value is THROWS:
        raise RuntimeError("the script threw")
    return value


# --- the replaced network -------------------------------------------------------------------------------------------


def opine(kind: str, reference: str, text: str) -> str:
    """A fixed reader: all of the reference's words make it right, some of them half right."""
    wanted, given = (set(re.findall(r"\w+", words.lower())) for words in (reference, text))
    if MUMBLING in given:
        return "I would rather not say."
    if kind == "ua_match":
        return "Same." if len(wanted & given) * 2 >= max(1, len(wanted)) else "Different."
    if wanted <= given:
        return "The answer is correct."
    return "Partially correct." if wanted & given else "That is incorrect."


def public_model(messages: list[dict[str, str]], **_: Any) -> str:
    text = messages[-1]["content"]
    if found := re.search(r"reference answer: (.*)\nall the string.*\nstudent answer: (.*)\nConclude the", text, re.S):
        return opine("fuzzy_match", found[1], found[2])
    found = re.search(r"actual unachievable reason: (.*)\nreported unachievable reason: (.*)\nThe task", text, re.S)
    assert found
    return opine("ua_match", found[1], found[2])


def our_model(request: httpx.Request) -> httpx.Response:
    text = json.loads(request.content)["messages"][-1]["content"]
    found = re.search(r"Reference answer: (.*)\nGiven answer: (.*)\nEnd with", text, re.S)
    kind = "fuzzy_match" if found else "ua_match"
    found = found or re.search(r"Known reason: (.*)\nReported reason: (.*)\nAnswer with", text, re.S)
    assert found
    return httpx.Response(200, json={"choices": [{"message": {"content": opine(kind, found[1], found[2])}}]})


def shop_says(path: str, ending: Ending) -> Any:
    if path.endswith("/token"):
        return "token"
    if path.endswith("/orders"):
        return {"items": [{"increment_id": f"{ORDER_ID:09d}"}]}
    return list(ending.reviews)


class PublicRequests:
    """In place of the module `requests`."""

    ending = Ending("")

    def post(self, url: str, **_: Any) -> Any:
        return self.get(url)

    def get(self, url: str, **_: Any) -> Any:
        return httpx.Response(200, json=shop_says(urlsplit(url).path, self.ending))


class NoSleep:
    @staticmethod
    def sleep(seconds: float) -> None:
        pass


requests_stand_in = PublicRequests()
for helpers in (full_helpers, lite_helpers):
    helpers.requests = requests_stand_in
    helpers.generate_from_openai_chat_completion = public_model
for evaluators in (full_evaluators, lite_evaluators):
    evaluators.time = NoSleep

# --- the two verdicts -----------------------------------------------------------------------------------------------


def public_verdict(config: Path, ending: Ending, lite: bool) -> str:
    requests_stand_in.ending = ending
    evaluator = (lite_evaluators if lite else full_evaluators).evaluator_router(config)
    page = (LiteStanding if lite else Standing)(PublicPage(ending, ending.url))
    try:
        score = evaluator([{}, {"answer": ending.answer}], config, page, None)
    except Exception as error:  # noqa: BLE001 - whatever the public code does is the finding
        return f"raises {type(error).__name__}"
    return "passed" if score == 1.0 else "failed"


async def our_evidence(task: Task, ending: Ending) -> Evidence:
    place = OurPlace(ending, ending.url)

    @asynccontextmanager
    async def new_place() -> AsyncIterator[OurPlace]:
        yield OurPlace(ending, "about:blank")

    shop = Magento(
        SITES["SHOPPING"],
        read_sites().accounts["shopping_admin"],
        httpx.MockTransport(lambda request: httpx.Response(200, json=shop_says(request.url.path, ending))),
    )
    reader = Judge("http://judge.test", "stand-in", transport=httpx.MockTransport(our_model))
    probes = ()
    for check in task.checks:
        if isinstance(check, ProgramHtml):
            probes = await gather_probes(check, place, new_place, shop)
    opinions = [await reader.opinion(question, task.intent) for question in questions(task, ending.answer, probes)]
    return Evidence(ending.answer, ending.url, "", (), probes=probes, opinions=tuple(opinions))


# --- the comparison -------------------------------------------------------------------------------------------------


def reason(task: Task, entry: dict[str, Any], ending: Ending, public: str, ours: str) -> str:
    answers = entry["eval"]["reference_answers"] or {}
    if public == "raises AssertionError" and isinstance(answers.get("must_include"), str):
        return (
            "the file has a text where the evaluator insists on a list, so it fails on every answer; we read one item"
        )
    if public == "raises AssertionError" and ours == "unjudged":
        return "the model's reply held no verdict: the evaluator's assertion fails (BrowserGym: 0), we say unjudged"
    if public == "raises SyntaxError" and "'" in ending.url:
        return "the address is pasted into code that is evaluated, and its quote ends the text; we paste nothing"
    if "Beartype" in public:
        return "a helper or script found no text, and the evaluator insists on one; we compare what it prints as"
    return "UNEXPLAINED"


async def compare(name: str, lite: bool) -> tuple[Counter[str], defaultdict[str, list[str]]]:
    file, counts, differences = _find(name, ""), Counter[str](), defaultdict[str, list[str]](list)
    filled = file.read_text()
    for site in PAGES_OF:
        filled = filled.replace(f"__{site}__", SITES[site])
    configs = json.loads(filled)
    suite, dialect = ("webarena-lite", "lite") if lite else ("webarena", "webarena")
    tasks = [
        read_task(
            entry | {"task_id": entry.get("old_task_id", entry["task_id"])}, read_sites(), file, suite, "test", dialect
        )
        for entry in _entries(file)
    ]
    rights = [right_ending(task) for task in tasks]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
        for index, (task, entry) in enumerate(zip(tasks, configs, strict=True)):
            config.seek(0)
            config.truncate()
            json.dump(entry, config)
            config.flush()
            strange = rights[(index * 7 + 13) % len(rights)]
            for ending in endings(task, entry, strange.answer, strange.url):
                public = public_verdict(Path(config.name), ending, lite)
                ours = judge(task, await our_evidence(task, ending)).outcome.value
                kind = "reference" if ending.right else "generated"
                counts[kind] += 1
                counts[f"{kind}, both {ours}" if public == ours else f"{kind}, different"] += 1
                counts[f"by kind, {ending.what.split(':')[0]}"] += 1
                if ending.right and public == ours == "failed":
                    differences["(no difference) the reference itself fails on both sides"].append(task.id)
                if public != ours:
                    told = f"{task.id} [{ending.what}] public: {public}, ours: {ours}"
                    differences[reason(task, entry, ending, public, ours)].append(told)
    return counts, differences


def compare_tokens(seed: int) -> tuple[int, list[str]]:
    """Single digits in random texts: the one place where the evaluators part words."""
    dice = random.Random(seed)
    marks = " .,;:!?'\"()[]-/$%#*&@<>«»“”‘’–—`~=+_"
    words = ["the", "a", "items", "of", "in", " was ", "5th", "1.5", "2,000", "$5", "e.g.", "dr.", "'s", "n't"]
    pieces = [*"0123456789", *"0123456789", *marks, " ", " ", ". ", ", ", "--", "...", "\n", *words]
    differences = []
    for _ in range(FUZZED):
        text = "".join(dice.choices(pieces, k=dice.randint(1, 9))).lower().strip()
        digit = dice.choice("0123456789" if not (seen := re.findall(r"\d", text)) else seen)
        clean = full_evaluators.StringEvaluator.clean_answer(text)
        public = full_evaluators.StringEvaluator.must_include(digit, text, tokenize=True)
        if bool(public) != stands_alone(digit, clean):
            differences.append(f"{digit!r} in {text!r}: public {bool(public)}, ours {not public}")
    return FUZZED, differences


def main() -> int:
    unexplained = 0
    for name, lite in ((FULL, False), (LITE, True)):
        counts, differences = asyncio.run(compare(name, lite))
        print(f"\n{name}")
        for key, count in sorted(counts.items()):
            print(f"  {key}: {count}")
        for why, cases in sorted(differences.items()):
            print(f"  {len(cases)} x {why}")
            print("".join(f"      {case}\n" for case in cases), end="")
        unexplained += len(differences["UNEXPLAINED"])
    fuzzed, told = compare_tokens(0)
    print(f"\nsingle digits in {fuzzed} random texts: {len(told)} differences")
    print("".join(f"  {line}\n" for line in told[:40]), end="")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
