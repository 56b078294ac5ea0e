"""One entry of a task file into a task. Every field that is used is checked here, so that nothing surprises later."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from clickgrad.errors import UserError
from clickgrad.tasks.webarena import calls
from clickgrad.tasks.webarena.checks import OR, UNACHIEVABLE
from clickgrad.tasks.webarena.sites import SITES, Sites
from clickgrad.types import Split, Task, WebArenaCheck
from clickgrad.webarena import AnswerRule, Dialect, ProgramHtml, StringMatch, Target, UrlMatch

_How = Literal["exact_match", "must_include", "fuzzy_match"]
_HOWS: tuple[_How, ...] = ("exact_match", "must_include", "fuzzy_match")


class _Entry(BaseModel):
    """Unknown fields are ignored: the files carry notes of their makers."""

    model_config = ConfigDict(strict=True)


class _Contents(_Entry):
    model_config = ConfigDict(strict=True, extra="forbid")  # another way to compare must not be passed over

    exact_match: str | None = None
    must_include: list[str] | None = None
    fuzzy_match: list[str] | None = None


class _Page(_Entry):
    url: str
    locator: str
    required_contents: _Contents
    prep_actions: list[str] = []


class _Eval(_Entry):
    eval_types: Annotated[list[Literal["string_match", "url_match", "program_html"]], Field(min_length=1)]
    reference_answers: dict[_How, str | list[str]] | None = None
    reference_url: str | None = None
    url_note: Literal["GOLD in PRED"] = "GOLD in PRED"
    program_html: list[_Page] = []
    string_note: str = ""


class _Task(_Entry):
    task_id: int
    intent_template_id: int
    sites: list[Literal[*SITES]]  # type: ignore[valid-type]
    intent: str
    start_url: str
    eval: _Eval


def read_task(entry: dict[str, Any], sites: Sites, file: Path, suite: str, split: Split, dialect: Dialect) -> Task:
    where = f"{file}, task {entry.get('task_id')}"
    try:
        read = _Task.model_validate(_filled(entry, sites))
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from None
    try:
        checks = tuple(_check(kind, read.eval, dialect) for kind in read.eval.eval_types)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    return Task(
        id=f"{suite}.{read.task_id}",
        suite=suite,
        split=split,
        sites=tuple(read.sites),
        template=str(read.intent_template_id),
        intent=read.intent,
        start_url=read.start_url,
        checks=checks,
    )


def _filled(value: Any, sites: Sites) -> Any:
    match value:
        case str():
            return sites.fill(value)
        case list():
            return [_filled(item, sites) for item in value]
        case dict():
            return {key: _filled(item, sites) for key, item in value.items()}
    return value


def _check(kind: str, asked: _Eval, dialect: Dialect) -> WebArenaCheck:
    match kind:
        case "string_match":
            rules = [_rule(how, expected, asked) for how, expected in (asked.reference_answers or {}).items()]
            return StringMatch(tuple(rules)) if rules else _refuse("string_match without reference_answers")
        case "url_match":
            urls = (asked.reference_url or "").split(OR)
            return UrlMatch(tuple(urls)) if all(urls) else _refuse("url_match without reference_url")
    targets = tuple(map(_target, asked.program_html))
    return ProgramHtml(targets, dialect) if targets else _refuse("program_html is empty")


def _rule(
    how: Literal["exact_match", "must_include", "fuzzy_match"], value: str | list[str], asked: _Eval
) -> AnswerRule:
    if how == "fuzzy_match" and value == UNACHIEVABLE:
        return AnswerRule("ua_match", (asked.string_note,))
    # WebArena-Lite has one text where a list belongs, which its evaluator refuses at run time; what is meant is clear.
    return AnswerRule(how, (value,) if isinstance(value, str) else tuple(value))


def _target(page: _Page) -> Target:
    if page.url.startswith(calls.PREFIX):
        calls.parse_call(page.url, calls.URL_CALLS)
    if page.locator.startswith(calls.PREFIX):
        calls.parse_call(page.locator, calls.LOCATOR_CALLS)
    elif page.locator.strip() and not page.locator.startswith(("document.", "[...document.", "lambda:")):
        _refuse(f"unknown kind of locator {page.locator!r}")
    wanted, prepare = page.required_contents, tuple(page.prep_actions)
    for how in _HOWS:  # in the evaluators' order of precedence
        expected: str | list[str] | None = getattr(wanted, how)
        if expected is not None:
            texts = (expected,) if isinstance(expected, str) else tuple(expected)
            return Target(page.url, page.locator, how, texts, prepare)
    raise UserError("required_contents is empty")


def _refuse(why: str) -> NoReturn:
    raise UserError(why)
