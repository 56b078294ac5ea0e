"""The judge: a task's checks against the evidence an episode left. Pure, exact, and every result says why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl, urlsplit

from clickgrad.tasks.answers import mentions, same
from clickgrad.tasks.webarena.checks import result as webarena_result
from clickgrad.types import (
    AnswerCheck,
    Check,
    CheckResult,
    CustomCheck,
    Evidence,
    Finding,
    Outcome,
    PageCheck,
    RewardCheck,
    RowChange,
    StateCheck,
    Task,
    UrlCheck,
    Verdict,
)
from clickgrad.webarena import ProgramHtml, StringMatch, UrlMatch


def judge(task: Task, evidence: Evidence) -> Verdict:
    """Passed when every check passes. Without checks, or when one of the user's own broke, it cannot be judged."""
    results = tuple(_result(check, evidence) for check in task.checks)
    if not results or any(not _is_known(check, evidence) for check in task.checks):
        return Verdict(Outcome.UNJUDGED, results)
    return Verdict(Outcome.PASSED if all(result.passed for result in results) else Outcome.FAILED, results)


def _result(check: Check, evidence: Evidence) -> CheckResult:
    match check:
        case AnswerCheck():
            return CheckResult("answer", *_answer(check, evidence.answer))
        case UrlCheck():
            return CheckResult("url", *_url(check, evidence.url))
        case PageCheck():
            return CheckResult("page", *_page(check, evidence.page_text))
        case StateCheck():
            return CheckResult("state", *_state(check, evidence.changes))
        case RewardCheck():
            return CheckResult("reward", *_page_reward(check, evidence.page_reward))
        case CustomCheck():
            finding = _finding(check, evidence)
            return CheckResult(finding.name, finding.passed is True, finding.reason)
        case _:
            kind, passed, reason = webarena_result(check, evidence)
            return CheckResult(kind, passed is True, reason)


def _is_known(check: Check, evidence: Evidence) -> bool:
    match check:
        case CustomCheck():
            return _finding(check, evidence).passed is not None
        case StringMatch() | UrlMatch() | ProgramHtml():
            return webarena_result(check, evidence)[1] is not None
    return True


def _finding(check: CustomCheck, evidence: Evidence) -> Finding:
    found = (finding for finding in evidence.findings if finding.name == check.name)
    return next(found, Finding(check.name, None, f"the check {check.name!r} was not run"))


def _answer(check: AnswerCheck, answer: str | None) -> tuple[bool, str]:
    """exact: any one of the expected texts, which are then spellings of one answer. includes: all of them."""
    if check.mode == "exact":
        wanted = f"the answer to be {' or '.join(map(repr, check.expected))}"
        passed = answer is not None and any(same(expected, answer) for expected in check.expected)
    else:
        wanted = f"the answer to include {' and '.join(map(repr, check.expected))}"
        passed = bool(answer and check.expected) and all(mentions(text, answer or "") for text in check.expected)
    if passed:
        return True, f"the answer is {answer!r}"
    return False, f"expected {wanted}, got {'no answer' if answer is None else repr(answer)}"


def _url(check: UrlCheck, url: str) -> tuple[bool, str]:
    """An expected query value of "" means that the parameter is absent or empty."""
    parts = urlsplit(url)
    if parts.hostname not in (check.site, f"{check.site}.localhost"):
        return False, f"expected to end on the site {check.site}, ended on {parts.hostname or url!r}"
    if (parts.path.rstrip("/") or "/") != (check.path.rstrip("/") or "/"):
        return False, f"expected to end on {check.path}, ended on {parts.path}"
    if not _is_place(check.fragment, parts.fragment):
        return False, f"expected to end on {check.path}#{check.fragment}, ended on {parts.path}#{parts.fragment}"
    fault = _query_fault(check.query, parts.query)
    return (False, fault) if fault else (True, f"ended on {url}")


def _is_place(expected: str, found: str) -> bool:
    """Whether a page's fragment is the expected one. `#/issues` and `#!/issues` are routes of a single-page app, and
    compared as paths with their query; without a route it is `#/`. Any other is an anchor, which may be left open."""
    if not any(fragment.startswith(("/", "!")) for fragment in (expected, found)):
        return expected in ("", found)
    (path, _, query), (found_path, _, found_query) = (
        fragment.removeprefix("!").partition("?") for fragment in (expected, found)
    )
    wanted = parse_qsl(query, keep_blank_values=True)
    return path.rstrip("/") == found_path.rstrip("/") and not _query_fault(wanted, found_query)


def _query_fault(expected: Iterable[tuple[str, str]], query: str) -> str:
    """The first expected parameter that is missing or another; "" if there is none."""
    found = dict(parse_qsl(query))
    for name, value in expected:
        if not (value == found.get(name, "") or (value and name in found and same(value, found[name]))):
            return f"expected {name}={value!r} in the address, found {found.get(name, '')!r}"
    return ""


def _page(check: PageCheck, page_text: str) -> tuple[bool, str]:
    text = " ".join(page_text.split()).casefold()
    missing = [wanted for wanted in check.includes if " ".join(wanted.split()).casefold() not in text]
    if missing or not check.includes:
        return False, f"expected the page to show {', '.join(map(repr, missing)) or 'something, but nothing is named'}"
    return True, "the page shows all that was expected"


def _page_reward(check: RewardCheck, reward: float | None) -> tuple[bool, str]:
    if reward is None:
        return False, f"expected a reward of at least {check.at_least:g} from the page, which gave none"
    return reward >= check.at_least, f"the page gave a reward of {reward:g}; at least {check.at_least:g} was expected"


def _state(check: StateCheck, changes: Sequence[RowChange]) -> tuple[bool, str]:
    missing, extra = unmatched(check, changes)
    reasons = [f"expected {_describe(change)}, which did not happen" for change in missing]
    reasons += [f"unexpected {_describe(change)}" for change in extra]
    return not reasons, "; ".join(reasons) or "exactly the expected rows changed"


def unmatched(check: StateCheck, changes: Sequence[RowChange]) -> tuple[list[RowChange], list[RowChange]]:
    """What was expected and did not happen, and what happened and was not expected."""
    owner = _match(check.changes, changes)  # index of a change -> index of the expected change it fulfils
    missing = [expected for index, expected in enumerate(check.changes) if index not in owner.values()]
    return missing, [change for index, change in enumerate(changes) if index not in owner]


def _match(expected: Sequence[RowChange], changes: Sequence[RowChange]) -> dict[int, int]:
    """Pair off as many as can be, by Kuhn's method: an expectation that names few columns may fit several changes."""
    owner: dict[int, int] = {}

    def place(wanted: int, tried: set[int]) -> bool:
        for index, change in enumerate(changes):
            if index not in tried and _fulfils(expected[wanted], change):
                tried.add(index)
                if index not in owner or place(owner[index], tried):
                    owner[index] = wanted
                    return True
        return False

    for wanted in range(len(expected)):
        place(wanted, set())
    return owner


def _fulfils(expected: RowChange, change: RowChange) -> bool:
    """On an update all changed columns count; on an insert or delete only those the expectation names."""
    if (expected.table, expected.op) != (change.table, change.op):
        return False
    if expected.key is not None and expected.key != change.key:
        return False
    values = dict(change.values)
    if expected.op == "update" and values.keys() != dict(expected.values).keys():
        return False
    return all(name in values and values[name] == value for name, value in expected.values)


def _describe(change: RowChange) -> str:
    values = ", ".join(f"{name}={value!r}" for name, value in change.values)
    key = "" if change.key is None else f" {change.key}"
    return f"{change.op} of {change.table}{key} ({values})"
