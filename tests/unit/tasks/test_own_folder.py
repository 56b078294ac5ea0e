"""A folder of the user's own: read as it is meant, and every mistake in it told in one line with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clickgrad.errors import UserError
from clickgrad.tasks import Expert, ExpertLost, judge, load_tasks
from clickgrad.tasks.own import Ended, named_checks, read_site, run_check
from clickgrad.types import (
    AnswerCheck,
    Click,
    CustomCheck,
    Element,
    Evidence,
    Finding,
    Observation,
    Outcome,
    PageCheck,
    UrlCheck,
)

SITE = 'start = "serve {port}"'
ENTRY: dict[str, Any] = {"id": "add.1", "split": "test", "intent": "Add milk.", "checks": {"answer": "done"}}
PAGE = Observation("http://mine.localhost/", "", ("link Home [0]",), (Element(0, "link", "Home"),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    made.mkdir()
    write(made, **{"site.toml": SITE, "tasks.json": json.dumps([ENTRY])})
    return made


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)


def mistake(folder: Path) -> str:
    with pytest.raises(UserError) as raised:
        load_tasks(str(folder), "all")
    message = str(raised.value)
    assert "\n" not in message
    assert str(folder) in message
    return message


def test_an_entry_becomes_a_task_of_the_folder(folder: Path) -> None:
    checks = {
        "answer": ["3", "three"],
        "answer_includes": "a",
        "url": "/list?name=Home",
        "page": ["x", "y"],
        "python": "ok",
    }
    entry = ENTRY | {"checks": checks, "start": "/list", "params": {"item": "Milk"}, "expert_turns": 2}
    write(folder, **{"tasks.json": json.dumps([entry]), "checks.py": "def ok(end):\n    return True\n"})
    (task,) = load_tasks(str(folder), "test")
    assert (task.id, task.suite, task.template, task.sites) == ("add.1", str(folder), "add", ("mine",))
    assert task.start_url == "http://mine.localhost/list"
    assert (task.param("item"), task.expert_turns) == ("Milk", 2)
    assert task.checks == (
        AnswerCheck(("3", "three")),
        AnswerCheck(("a",), "includes"),
        UrlCheck("mine", "/list", (("name", "Home"),)),
        PageCheck(("x", "y")),
        CustomCheck("ok"),
    )
    assert load_tasks(str(folder), "train") == ()


def test_a_site_that_runs_elsewhere_keeps_its_own_addresses(folder: Path) -> None:
    write(folder, **{"site.toml": 'url = "https://example.org/app/"\nshared = true'})
    write(folder, **{"tasks.json": json.dumps([ENTRY | {"checks": {"url": "/end"}}])})
    (task,) = load_tasks(str(folder), "all")
    assert task.start_url == "https://example.org/app/"
    assert task.checks == (UrlCheck("example.org", "/app/end"),)


def test_a_url_check_keeps_the_route_of_a_single_page_app(folder: Path) -> None:
    write(folder, **{"tasks.json": json.dumps([ENTRY | {"checks": {"url": "/#/issues?state=open"}}])})
    (task,) = load_tasks(str(folder), "all")
    ends = {"#/boards": Outcome.FAILED, "": Outcome.FAILED, "#/issues?state=open": Outcome.PASSED}
    for route, outcome in ends.items():
        assert judge(task, Evidence(None, f"http://mine.localhost/{route}", "", ())).outcome is outcome, route
    assert task.checks == (UrlCheck("mine", "/", fragment="/issues?state=open"),)


def test_tasks_may_be_made_by_python_that_imports_its_neighbours(folder: Path) -> None:
    (folder / "tasks.json").unlink()
    write(folder, **{"stock_of_mine.py": "ITEMS = ['Milk', 'Salt']\n"})
    made = "{'id': f'add.{item}', 'split': 'train', 'intent': item, 'checks': {'page': item}}"
    write(
        folder,
        **{"tasks.py": f"from stock_of_mine import ITEMS\ndef tasks():\n    return [{made} for item in ITEMS]\n"},
    )
    assert [task.id for task in load_tasks(str(folder), "train")] == ["add.Milk", "add.Salt"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("start = ", "site.toml is not TOML"),
        ("name = 'x'", "give either start, a command, or url"),
        (f"{SITE}\nurl = 'http://x'", "give either start, a command, or url"),
        (f"{SITE}\ncolour = 1", "unknown option colour: known are name, start, url"),
        (f"{SITE}\nready_s = 'soon'", "ready_s: input should be a valid number, not 'soon'"),
        (f"{SITE}\nname = 'My Site'", "name = 'My Site': use small letters"),
        (f"{SITE}\nreset_url = '/r'\nshared = true", "reset_url and shared exclude each other"),
        ("url = 'http://x'", "say how episodes are kept apart"),
        ("url = 'example.org'\nshared = true", "write it as http://host"),
        ("start = 'serve'", "tell start its port with {port}"),
        ("start = 'serve'\nport = 80\ninstances = 2", "more than one needs a start command with {port}"),
        ("start = 'serve \"{port}'", "start cannot be split into words"),
    ],
)
def test_a_wrong_site_file_is_told(folder: Path, text: str, part: str) -> None:
    write(folder, **{"site.toml": text})
    assert part in mistake(folder)


def test_how_many_copies_there_can_be(folder: Path) -> None:
    def copies(text: str) -> int:
        write(folder, **{"site.toml": text})
        return read_site(folder).copies

    assert copies(SITE) == 4
    assert copies(f"{SITE}\ninstances = 9") == 9
    assert copies(f"{SITE}\nshared = true") == 1
    assert copies("start = 'serve'\nport = 8000") == 1
    assert copies("url = 'http://x'\nreset_url = '/r'") == 1


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[", "tasks.json is not JSON"),
        ("{}", "holds a dict: make it a list of tasks"),
        (json.dumps([ENTRY, ENTRY]), "entry 1: the id 'add.1' occurs twice"),
        (json.dumps([{"id": "a"}]), "entry 0: split is missing"),
        (json.dumps([ENTRY | {"colour": 1}]), "entry 0: unknown option colour: known are id, split"),
        (
            json.dumps([ENTRY | {"split": "dev"}]),
            "entry 0: split: input should be 'train', 'test' or 'demo', not 'dev'",
        ),
        (json.dumps([ENTRY | {"checks": {}}]), "entry 0: checks is empty: give at least one of answer"),
        (json.dumps([ENTRY | {"checks": {"text": 1}}]), "entry 0: checks.text: extra inputs are not permitted"),
        (json.dumps([ENTRY | {"checks": {"python": "gone"}}]), "entry 0: there is no check 'gone' in"),
        (json.dumps(["x"]), "entry 0: "),
    ],
)
def test_a_wrong_tasks_file_is_told(folder: Path, text: str, part: str) -> None:
    write(folder, **{"tasks.json": text})
    assert part in mistake(folder)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("def tasks(:\n", "tasks.py, line 1: SyntaxError: "),
        ("\nimport nothing_like_it\n", "tasks.py, line 2: ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("def tasks():\n    return 1 / 0\n", "tasks.py, line 2: ZeroDivisionError: division by zero"),
        ("def tasks():\n    yield {}\n    raise KeyError('x')\n", "tasks.py, line 3: KeyError: 'x'"),
        ("def tasks():\n    return None\n", "tasks() returned a NoneType: return a list of tasks"),
        ("x = 1\n", "defines no function `tasks`"),
    ],
)
def test_a_mistake_in_the_users_python_is_told_with_its_line(folder: Path, text: str, part: str) -> None:
    (folder / "tasks.json").unlink()
    write(folder, **{"tasks.py": text})
    assert part in mistake(folder)


def test_two_files_of_tasks_or_none_are_refused(folder: Path) -> None:
    write(folder, **{"tasks.py": ""})
    assert "has both" in mistake(folder)
    (folder / "tasks.py").unlink()
    (folder / "tasks.json").unlink()
    assert "has neither" in mistake(folder)


def test_a_folder_without_a_site_file_is_no_suite(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a folder of your own with a site\.toml"):
        load_tasks(str(tmp_path), "all")


# --- checks ---------------------------------------------------------------------------------------------------------


def found(folder: Path, body: str) -> Finding:
    write(folder, **{"checks.py": f"def mine(end):\n    {body}\n"})
    (task,) = load_tasks(str(folder), "all")
    ended = Ended(task, "done", "http://mine.localhost/", "some text", "http://127.0.0.1:9", None)
    return run_check("mine", named_checks(folder)["mine"], ended, folder / "checks.py")


@pytest.mark.parametrize(
    ("body", "passed", "reason"),
    [
        ("return end.answer == 'done'", True, "mine says yes"),
        ("return 'other' in end.page_text", False, "mine says no"),
        ("return 'there is no milk'", False, "there is no milk"),
        ("return {}['x']", None, "checks.py, line 2: KeyError: 'x'"),
        ("return end.fetch('/')", None, "checks.py, line 2: WorldError: GET http://127.0.0.1:9/: ConnectionRefused"),
        ("pass", None, "mine returned None: return True, False, or why it is False"),
        ("return ''", None, "mine returned '': return True"),
        ("import sys; sys.exit()", None, "checks.py, line 2: SystemExit"),
        ("import sys; sys.exit('no room')", None, "checks.py, line 2: SystemExit: no room"),
        ("return type('Odd', (), {'__repr__': lambda self: {}['x']})()", None, "checks.py, line 2: KeyError: 'x'"),
    ],
)
def test_what_a_check_may_say(folder: Path, body: str, passed: bool | None, reason: str) -> None:
    finding = found(folder, body)
    assert finding.passed is passed
    assert reason in finding.reason


@pytest.mark.parametrize(
    ("passed", "answer", "outcome"),
    [
        (True, "done", Outcome.PASSED),
        (False, "done", Outcome.FAILED),
        (True, "no", Outcome.FAILED),
        (None, "done", Outcome.UNJUDGED),
        (None, "no", Outcome.UNJUDGED),
    ],
)
def test_a_broken_check_leaves_the_episode_unjudged(
    folder: Path, passed: bool | None, answer: str, outcome: Outcome
) -> None:
    write(folder, **{"checks.py": "def mine(end):\n    return True\n"})
    write(folder, **{"tasks.json": json.dumps([ENTRY | {"checks": {"answer": "done", "python": "mine"}}])})
    (task,) = load_tasks(str(folder), "all")
    verdict = judge(task, Evidence(answer, "", "", (), findings=(Finding("mine", passed, "because"),)))
    assert verdict.outcome is outcome
    assert [(result.check, result.reason) for result in verdict.results][1] == ("mine", "because")
    assert judge(task, Evidence("done", "", "", ())).outcome is Outcome.UNJUDGED  # the check was never run


# --- experts --------------------------------------------------------------------------------------------------------


def expert(folder: Path, body: str) -> Expert:
    head = "from clickgrad.tasks.moves import click, finish\n\ndef add(task, page):\n"
    write(folder, **{"experts.py": head + "\n".join(f"    {line}" for line in body.splitlines()) + "\n"})
    return Expert(load_tasks(str(folder), "all")[0])


def test_an_expert_of_the_users_own_plays_its_template(folder: Path) -> None:
    player = expert(folder, "page = yield click(page, 'link', 'Home', 'why')\nyield finish('done', 'note')")
    assert player.move(PAGE).action == Click(0)
    assert player.move(PAGE).remark == "Note: note"
    with pytest.raises(ExpertLost, match="has already finished"):
        player.move(PAGE)


def test_an_expert_that_does_not_find_its_way_is_lost_not_wrong(folder: Path) -> None:
    with pytest.raises(ExpertLost, match="no button 'Add'"):
        expert(folder, "yield click(page, 'button', 'Add', 'why')").move(PAGE)


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("yield page.nothing", r"experts\.py, line 4: AttributeError: "),
        ("yield 'click'", r"the expert of add yielded 'click'"),
        ("return 3", r"experts\.py: TypeError: 'int' object is not an iterator"),
    ],
)
def test_a_mistake_in_an_expert_is_told_with_its_line(folder: Path, body: str, part: str) -> None:
    with pytest.raises(UserError, match=part):
        expert(folder, body).move(PAGE)


def test_a_mistake_later_in_an_expert_is_told_too(folder: Path) -> None:
    player = expert(folder, "page = yield click(page, 'link', 'Home', 'why')\nyield task.param('x')")
    player.move(PAGE)
    with pytest.raises(UserError, match=r"experts\.py, line 5: KeyError: 'x'"):
        player.move(PAGE)


def test_a_template_without_an_expert_names_those_there_are(folder: Path) -> None:
    write(folder, **{"experts.py": "def other(task, page):\n    yield\n"})
    with pytest.raises(UserError, match=r"there is no expert `add` in .*; there are: other"):
        Expert(load_tasks(str(folder), "all")[0])
