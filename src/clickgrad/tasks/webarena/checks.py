"""WebArena's checks against the evidence, with the verdicts of the public evaluators. Pure: no page, no network.

Where they differ from ours elsewhere, theirs hold here: texts are compared in lower case and without quotes around
them, includes are plain substrings, and addresses are compared by containment and without their fragment.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from urllib.parse import parse_qs, urlparse

from clickgrad.tasks.webarena.tokens import stands_alone
from clickgrad.types import Evidence, Task, WebArenaCheck
from clickgrad.webarena import AnswerRule, Opinion, Probe, ProgramHtml, Question, StringMatch, Target, UrlMatch

OR = " |OR| "
UNACHIEVABLE = "N/A"
SHOWN = 80  # characters of a page in a reason

Found = tuple[bool | None, str]  # whether it passed, None where nobody could tell; and why
NOBODY_TO_ASK: Found = (None, "whether this is right takes a judge, and there was none")


def result(check: WebArenaCheck, evidence: Evidence) -> tuple[str, bool | None, str]:
    """The kind of check, whether it passed, and why.

    A check that may need an opinion is undecided when nobody could be asked, whatever else is wrong or right: else only
    the failures, or only the successes, of such tasks would be counted.
    """
    match check:
        case UrlMatch():
            return "url", *_url(check, evidence)
        case StringMatch():
            return "answer", *(_string(check, evidence) if _can_tell(check, evidence) else NOBODY_TO_ASK)
        case ProgramHtml():
            return "page", *(_html(check, evidence) if _can_tell(check, evidence) else NOBODY_TO_ASK)


def needs_judge(task: Task) -> bool:
    return any(isinstance(check, StringMatch | UrlMatch | ProgramHtml) and _may_ask(check) for check in task.checks)


def questions(task: Task, answer: str | None, probes: Sequence[Probe]) -> tuple[Question, ...]:
    """All that a judge has to be asked before the task can be judged."""
    asked: list[Question | None] = []
    for check in task.checks:
        if isinstance(check, StringMatch) and answer is not None:
            asked += _string_questions(check, answer)
        if isinstance(check, ProgramHtml):
            asked += [_html_question(target, probe) for target, probe in _paired(check, probes) if _reads(target)]
    return tuple(dict.fromkeys(question for question in asked if question))


def clean(text: str) -> str:
    """Without white space and one pair of quotes around it, in lower case."""
    text = text.strip()
    for quote in "'\"":
        if text.startswith(quote) and text.endswith(quote):
            return text[1:-1].lower()
    return text.lower()


def _can_tell(check: WebArenaCheck, evidence: Evidence) -> bool:
    return evidence.opinions is not None or not _may_ask(check)


def _may_ask(check: WebArenaCheck) -> bool:
    match check:
        case StringMatch(rules):
            return any(rule.how in ("fuzzy_match", "ua_match") for rule in rules)
        case ProgramHtml(targets):
            return any(map(_reads, targets))
        case UrlMatch():
            return False


# --- answers --------------------------------------------------------------------------------------------------------


def _string(check: StringMatch, evidence: Evidence) -> Found:
    if evidence.answer is None:
        return False, f"expected an answer ({_wanted(check)}), got none"
    answer = clean(evidence.answer)
    passed: bool | None = True
    for rule in check.rules:
        if rule.how != "ua_match":
            passed = _both(passed, _fulfils(rule, answer, evidence))
        elif not (passed and clean(UNACHIEVABLE) == clean(answer)):
            passed = _agrees(Question("ua_match", rule.expected[0], answer), evidence)
    return passed, f"expected {_wanted(check)}, got {evidence.answer!r}"


def _fulfils(rule: AnswerRule, answer: str, evidence: Evidence) -> bool | None:
    """The answer has been cleaned once already; the evaluators clean it again where they compare it."""
    match rule.how:
        case "exact_match":
            return all(clean(answer) == clean(text) for text in rule.expected)
        case "must_include":
            alone = len(rule.expected) == 1
            return all(_includes(text, answer, alone) for text in rule.expected)
        case _:
            return _all(_agrees(Question("fuzzy_match", text, answer), evidence) for text in rule.expected)


def _includes(expected: str, text: str, alone: bool) -> bool:
    """A single character, if it is all that is expected, has to stand alone: 0 is not in 10."""
    expected, text = clean(expected), clean(text)
    if alone and len(expected) == 1 and not expected.isspace():
        return stands_alone(expected, text)
    return expected in text


def _string_questions(check: StringMatch, answer: str) -> Iterator[Question]:
    answer = clean(answer)
    for rule in check.rules:
        if rule.how == "fuzzy_match":
            yield from (Question("fuzzy_match", text, answer) for text in rule.expected)
        if rule.how == "ua_match" and (len(check.rules) > 1 or clean(answer) != clean(UNACHIEVABLE)):
            yield Question("ua_match", rule.expected[0], answer)


def _wanted(check: StringMatch) -> str:
    words = {"exact_match": "exactly", "must_include": "to include", "fuzzy_match": "to say", "ua_match": "N/A, or"}
    return ", and ".join(f"{words[rule.how]} {' and '.join(map(repr, rule.expected))}" for rule in check.rules)


# --- addresses ------------------------------------------------------------------------------------------------------


def _url(check: UrlMatch, evidence: Evidence) -> Found:
    place, parameters = _parted(evidence.url)
    expected = [_parted(url) for url in check.urls]
    passed = any(wanted in place for wanted, _ in expected)
    # Theirs drops fragments, which are all that tells the pages of some apps apart.
    fragments = {urlparse(url).fragment for url in check.urls} - {""}
    passed = passed and (not fragments or urlparse(evidence.url).fragment in fragments)
    for name in {name for _, wanted in expected for name in wanted}:
        values = {value for _, wanted in expected for value in wanted.get(name, [])}
        passed = passed and not values.isdisjoint(parameters.get(name, []))
    return passed, f"expected to end on {' or '.join(check.urls)}, ended on {evidence.url}"


def _parted(url: str) -> tuple[str, dict[str, list[str]]]:
    parts = urlparse(url.rstrip("/"))  # not urlsplit: what follows a semicolon is no part of the path here
    return parts.netloc + parts.path, parse_qs(parts.query)


# --- pages ----------------------------------------------------------------------------------------------------------


def _html(check: ProgramHtml, evidence: Evidence) -> Found:
    if len(evidence.probes) != len(check.targets):
        return None, f"{len(check.targets)} places were to be looked at, {len(evidence.probes)} were"
    found = [_at(target, probe, check, evidence) for target, probe in _paired(check, evidence.probes)]
    passed = _all(passed for passed, _ in found)
    reasons = [reason for at, reason in found if not at] or [reason for _, reason in found]
    return passed, "; ".join(reasons)


def _at(target: Target, probe: Probe, check: ProgramHtml, evidence: Evidence) -> Found:
    wanted = f"expected {' and '.join(map(repr, target.expected))} at {target.locator or 'the page'} of {target.url}"
    if probe.text is None:
        return False, f"{wanted}, found nothing"
    text = html.unescape(probe.text) if check.dialect == "webarena" else probe.text
    match target.how:
        case "exact_match":
            passed: bool | None = all(clean(text) == clean(expected) for expected in target.expected)
        case "must_include":
            passed = all(
                any(_includes(one, text, alone=False) for one in expected.split(OR)) for expected in target.expected
            )
        case "fuzzy_match":
            passed = _agrees(_asked(target, text), evidence)
    return passed, f"{wanted}, found {text[:SHOWN]!r}"


def _html_question(target: Target, probe: Probe) -> Question | None:
    return None if probe.text is None else _asked(target, probe.text)


def _asked(target: Target, text: str) -> Question:
    return Question("fuzzy_match", ", ".join(target.expected), text)


def _paired(check: ProgramHtml, probes: Sequence[Probe]) -> Iterator[tuple[Target, Probe]]:
    return zip(check.targets, probes, strict=False)


def _reads(target: Target) -> bool:
    return target.how == "fuzzy_match"


# --- what is known, and what is not ---------------------------------------------------------------------------------


def _agrees(question: Question, evidence: Evidence) -> bool | None:
    found = (opinion for opinion in evidence.opinions or () if opinion.question == question)
    return next(found, Opinion(question, None, "")).agrees


def _all(parts: Iterator[bool | None] | Sequence[bool | None]) -> bool | None:
    known: bool | None = True
    for part in parts:
        known = _both(known, part)
    return known


def _both(one: bool | None, other: bool | None) -> bool | None:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True
