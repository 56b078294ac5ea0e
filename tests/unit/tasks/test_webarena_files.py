from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clickgrad.errors import UserError
from clickgrad.tasks.suites import load_tasks
from clickgrad.tasks.webarena.calls import LOCATOR_CALLS, URL_CALLS, Call, parse_call, post_url
from clickgrad.tasks.webarena.files import FULL, LITE, load_webarena, load_webarena_lite
from clickgrad.tasks.webarena.sites import Hosting, Sites, read_hosting, read_sites
from clickgrad.types import Task
from clickgrad.webarena import AnswerRule, ProgramHtml, StringMatch, Target, UrlMatch

VARIABLES = {
    "WA_SHOPPING": "http://wa.test:7770/",
    "WA_SHOPPING_ADMIN": "http://wa.test:7780/admin",
    "WA_REDDIT": "http://forum.test:9999",
    "WA_GITLAB": "https://code.test",
    "WA_WIKIPEDIA": "todo",
    "WA_MAP": "http://wa.test:3000",
    "WA_HOMEPAGE": "http://wa.test:4399",
}


@pytest.fixture
def sites() -> Sites:
    return read_sites(VARIABLES)


def entry(number: int, sites: list[str] | None = None, **asked: Any) -> dict[str, Any]:
    """A task in the schema of the public files."""
    return {
        "sites": sites or ["shopping"],
        "task_id": number,
        "require_login": True,
        "storage_state": "./.auth/shopping_state.json",
        "start_url": "__SHOPPING__",
        "geolocation": None,
        "intent_template": "How many {{things}}?",
        "instantiation_dict": {"things": "orders"},
        "intent": "How many orders?",
        "require_reset": False,
        "intent_template_id": 12,
        "eval": {
            "eval_types": ["string_match"],
            "reference_answers": {"exact_match": "2"},
            "reference_url": "",
            "program_html": [],
            "string_note": "",
            "reference_answer_raw_annotation": "2",
        }
        | asked,
    }


Read = Callable[..., Task]


@pytest.fixture
def read(sites: Sites, tmp_path: Path) -> Read:
    def one(**asked: Any) -> Task:
        file = tmp_path / FULL
        file.write_text(json.dumps([entry(7, **asked)]))
        return load_webarena(str(file), sites)[0]

    return one


def test_a_task_is_read_with_its_addresses_filled_in(read: Read) -> None:
    task = read(eval_types=["url_match"], reference_url="__SHOPPING__/a |OR| __SHOPPING_ADMIN__/b?c=1")
    assert (task.id, task.suite, task.split, task.template) == ("webarena.7", "webarena", "test", "12")
    assert (task.sites, task.start_url, task.user) == (("shopping",), "http://wa.test:7770", None)
    assert task.checks == (UrlMatch(("http://wa.test:7770/a", "http://wa.test:7780/admin/b?c=1")),)


def test_reference_answers_keep_their_order(read: Read) -> None:
    task = read(reference_answers={"must_include": ["Acadia"], "fuzzy_match": ["1h 23min"]})
    assert task.checks == (
        StringMatch((AnswerRule("must_include", ("Acadia",)), AnswerRule("fuzzy_match", ("1h 23min",)))),
    )


def test_an_unachievable_task_carries_its_reason(read: Read) -> None:
    task = read(reference_answers={"fuzzy_match": "N/A"}, string_note="There is no such product")
    assert task.checks == (StringMatch((AnswerRule("ua_match", ("There is no such product",)),)),)


def test_one_text_in_place_of_a_list_is_a_list_of_one(read: Read) -> None:
    assert read(reference_answers={"must_include": "yjlou"}).checks == (
        StringMatch((AnswerRule("must_include", ("yjlou",)),)),
    )


def test_pages_to_look_at_are_read_with_what_has_to_be_there(read: Read) -> None:
    page = {
        "url": "func:reddit_get_post_url('__last_url__')",
        "locator": "document.querySelector('.x').outerText",
        "required_contents": {"must_include": ["a |OR| b", "c"]},
        "prep_actions": ["document.querySelector('.y').click()"],
    }
    assert read(eval_types=["program_html"], program_html=[page]).checks == (
        ProgramHtml(
            (Target(page["url"], page["locator"], "must_include", ("a |OR| b", "c"), tuple(page["prep_actions"])),),  # type: ignore[arg-type]
            "webarena",
        ),
    )


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"eval_types": ["image_match"]}, "eval_types"),
        ({"eval_types": []}, "eval_types"),
        ({"reference_answers": {}}, "string_match without reference_answers"),
        ({"reference_answers": {"close_match": "2"}}, "close_match"),
        ({"eval_types": ["url_match"], "reference_url": None}, "url_match without reference_url"),
        ({"eval_types": ["url_match"], "url_note": "EXACT"}, "url_note"),
        ({"eval_types": ["program_html"]}, "program_html is empty"),
    ],
)
def test_a_check_that_nobody_knows_is_refused_in_one_line(read: Read, asked: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=rf"{FULL}, task 7: .*{why}") as refused:
        read(**asked)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "locator", "contents", "why"),
    [
        ("last", "$('.x')", {"exact_match": "a"}, "unknown kind of locator"),
        ("last", "func:__import__('os').system('true')", {"exact_match": "a"}, "no call of a helper"),
        ("last", "func:gitlab_get_project_memeber_role(__page__, open('x'))", {"exact_match": "a"}, "only texts"),
        ("func:shopping_get_latest_order_url", "", {"exact_match": "a"}, "no call of a helper"),
        ("func:reddit_get_post_url('a', 'b')", "", {"exact_match": "a"}, "known here are"),
        ("last", "", {}, "required_contents is empty"),
        ("last", "", {"must_exclude": ["a"]}, "must_exclude"),
    ],
)
def test_a_place_that_cannot_be_looked_at_is_refused(
    read: Read, url: str, locator: str, contents: dict[str, Any], why: str
) -> None:
    with pytest.raises(UserError, match=why):
        read(
            eval_types=["program_html"], program_html=[{"url": url, "locator": locator, "required_contents": contents}]
        )


def test_lite_tests_on_its_own_tasks_and_trains_on_the_others(sites: Sites, tmp_path: Path) -> None:
    (tmp_path / FULL).write_text(json.dumps([entry(number) for number in range(4)]))
    page = {"url": "last", "locator": "", "required_contents": {"fuzzy_match": ["refund", "broke"]}}
    lite = entry(0, eval_types=["program_html"], program_html=[page]) | {"old_task_id": 2}
    (tmp_path / LITE).write_text(json.dumps([lite]))
    tasks = load_webarena_lite(str(tmp_path), sites)
    assert [(task.id, task.split) for task in tasks] == [
        ("webarena-lite.2", "test"),
        ("webarena-lite.0", "train"),
        ("webarena-lite.1", "train"),
        ("webarena-lite.3", "train"),
    ]
    assert tasks[0].checks == (ProgramHtml((Target("last", "", "fuzzy_match", ("refund", "broke")),), "lite"),)
    assert [task.id for task in load_webarena_lite(str(tmp_path / LITE), sites)] == ["webarena-lite.2"]


def test_tasks_on_a_site_that_is_not_hosted_are_left_out(sites: Sites, tmp_path: Path) -> None:
    (tmp_path / FULL).write_text(json.dumps([entry(0), entry(1, ["map", "wikipedia"]), entry(2, ["map"])]))
    assert [task.id for task in load_webarena(str(tmp_path), sites)] == ["webarena.0", "webarena.2"]


def test_missing_variables_are_all_named_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WA_MAP", "http://wa.test:3000")
    with pytest.raises(UserError) as refused:
        load_tasks(f"webarena:{tmp_path}", "all")
    assert str(refused.value).startswith("WA_SHOPPING, WA_SHOPPING_ADMIN, WA_REDDIT, WA_GITLAB, WA_WIKIPEDIA, WA_HOME")
    assert "WA_MAP" not in str(refused.value)


def test_a_suite_may_name_the_users_own_copy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "mine.json").write_text(json.dumps([entry(3)]))
    assert [task.id for task in load_tasks(f"webarena:{tmp_path / 'mine.json'}", "test")] == ["webarena.3"]
    with pytest.raises(UserError, match="there is no"):
        load_tasks(f"webarena-lite:{tmp_path}", "test")


def test_what_may_be_reached_is_the_sites_and_what_the_user_adds() -> None:
    sites = read_sites(VARIABLES | {"WA_MORE_HOSTS": "tiles.test:8080, 10.0.0.7:5000"})
    assert sites.hosts == (
        "wa.test:7770", "wa.test:7780", "forum.test:9999", "code.test:443", "wa.test:3000", "wa.test:4399",
        "tiles.test:8080", "10.0.0.7:5000",
    )  # fmt: skip
    with pytest.raises(UserError, match="WA_MAP=ftp://x is no address"):
        read_sites(VARIABLES | {"WA_MAP": "ftp://x"})


def test_accounts_come_from_the_environment_and_are_not_shown() -> None:
    accounts = read_sites(VARIABLES | {"WA_GITLAB_USERNAME": "ann", "WA_GITLAB_PASSWORD": "hush"}).accounts
    assert (accounts["gitlab"].name, accounts["gitlab"].password) == ("ann", "hush")
    assert "hush" not in repr(accounts)
    assert accounts["shopping"].name == "emma.lopez@gmail.com"


def test_hosting_is_read_and_contradictions_are_refused(tmp_path: Path) -> None:
    assert read_hosting({}) == Hosting()
    given = {"WA_RESET_COMMAND": "docker 'restart all'", "WA_RESET_EVERY": "8", "WA_SESSIONS_PER_SITE": "2"}
    assert read_hosting(given | {"WA_LOGIN_FOLDER": str(tmp_path)}) == Hosting(
        2, ("docker", "restart all"), "", 8, tmp_path
    )
    for wrong in ({"WA_FULL_RESET": "http://r", "WA_RESET_COMMAND": "x"}, {"WA_RESET_EVERY": "1"}):
        with pytest.raises(UserError):
            read_hosting(wrong)
    with pytest.raises(UserError, match="WA_SESSIONS_PER_SITE=0"):
        read_hosting({"WA_SESSIONS_PER_SITE": "0"})


def test_a_call_is_read_and_never_run() -> None:
    assert parse_call("func:shopping_get_latest_order_url()", URL_CALLS) == Call("shopping_get_latest_order_url", ())
    assert parse_call("func:shopping_get_sku_latest_review_author('B\\'0')", LOCATOR_CALLS).texts == ("B'0",)
    for text in ("func:", "func:eval('1')", "func:reddit_get_post_url(url='x')", "func:a.b()", "func:" + "(" * 500):
        with pytest.raises(UserError):
            parse_call(text, URL_CALLS)


def test_the_page_of_a_post_is_found_from_anything_below_it() -> None:
    assert post_url("http://f:9/f/books/59421/title/-/comment/1?x=1") == "http://f:9/f/books/59421/"
    for other in ("http://f:9/f/books", "http://f:9/user/x/y/z", "http://f:9/"):
        assert post_url(other) == other
