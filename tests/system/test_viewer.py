"""The viewer and the report in a real browser: what a person does with them, and what they must never do."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
import zstandard
from commands import run
from looking import serving, watched_page

from clickgrad.codec import to_plain
from clickgrad.report.metrics import Metrics
from clickgrad.rollout.store import FORMAT, TrajectoryFile
from clickgrad.types import (
    AnswerCheck,
    CheckResult,
    Click,
    Completion,
    Element,
    End,
    Evidence,
    Exit,
    Finish,
    Given,
    Observation,
    Outcome,
    Task,
    Trajectory,
    Turn,
    Unparsable,
    Verdict,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
MANY = 10_000


def make_task(number: int, site: str = "shop", intent: str = "Buy a mug.") -> Task:
    checks = (AnswerCheck(("done",)),)
    return Task(
        f"{site}.buy.{number:04d}", "toy", "test", (site,), f"{site}.buy", intent, "http://toy/", checks, None, 2
    )


def make_episode(
    name: str, task: Task, reward: float | None, text: str = "", screenshot: str | None = None
) -> Trajectory:
    link = Element(3, "link", "Blue Mug", box=(100, 200, 80, 20), line=1)
    page = Observation("http://toy/list", f"List {text}", ("Mugs", "link Blue Mug [3]", f"$12.50 {text}"), (link,))
    cart = Observation("http://toy/cart", "Cart", ("Your cart", "link Home [0]"), ())
    sampled = Completion(
        f'do(action="Click", element="3") {text}', (5, 6, 7, 8), (-0.01, -0.7, -3.0, -0.02), Finish.STOP, 1
    )
    last = Completion('exit(message="done")', (9, 8), (-0.1, -0.2), Finish.STOP, 1)
    turns = (
        Turn(page, (1, 2, 3), sampled, Click(3), 1.5, 0.25, screenshot),
        Turn(cart, (1, 2, 3, 4), last, Exit(text or "done"), 1.0, 0.1),
    )
    passed = reward == 1.0
    outcome = Outcome.UNJUDGED if reward is None else Outcome.PASSED if passed else Outcome.FAILED
    verdict = Verdict(outcome, (CheckResult("answer", passed, "as expected" if passed else f"said {text or 'else'}"),))
    end = End.CRASHED if reward is None else End.STOPPED
    evidence = Evidence(text or "done", "http://toy/cart", text, ())
    return Trajectory(name, task, 0, turns, end, evidence, verdict, reward, None, 3.0, f"toy {text}", "format")


def png(width: int = 1280, height: int = 720) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress((b"\0" + b"\xe0" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
            chunk(b"IDAT", rows),
            chunk(b"IEND", b""),
        ]
    )


def fill(folder: Path) -> None:
    """Before and after training, a training run, one of ten thousand episodes, and files that are not ours."""
    tasks = [make_task(number) for number in range(3)] + [make_task(3, "forum", "Write a post.")]
    rewards: dict[str, list[float | None]] = {"before": [0.0, 1.0, 0.0, None], "after": [1.0, 1.0, 0.0, 0.0]}
    for name, given in rewards.items():
        (folder / name / "screenshots").mkdir(parents=True)
        (folder / name / "screenshots" / "first.png").write_bytes(png())
        file = TrajectoryFile(folder / name / "trajectories" / "evaluate.jsonl.zst")
        slots = zip(tasks, given, strict=True)
        file.extend([make_episode(f"{t.id}/attempt-0/try-0", t, r, screenshot="first.png") for t, r in slots])
        (folder / name / "config.toml").write_text('command = "evaluate"\n')
    hostile = make_episode("hostile/attempt-0/try-0", make_task(9, "forum", HOSTILE), 0.0, HOSTILE)
    TrajectoryFile(folder / "after" / "trajectories" / "evaluate.jsonl.zst").append(hostile)

    train = TrajectoryFile(folder / "train" / "reinforce" / "trajectories" / "step-0001.jsonl.zst")
    members = [make_episode(f"step-0001/task-00000/member-{m}/try-0", tasks[0], float(m == 0)) for m in range(3)]
    unparsable = replace(members[2].turns[0], action=Unparsable("no verb"))
    train.extend([*members[:2], replace(members[2], turns=(unparsable,), end=End.TURN_LIMIT)])
    Metrics(folder / "train" / "reinforce" / "metrics.jsonl").append(step_row(1))
    (folder / "train" / "config.toml").write_text('command = "train"\n')

    many = folder / "many" / "trajectories" / "evaluate.jsonl.zst"
    many.parent.mkdir(parents=True)
    text = json.dumps({"format": FORMAT, "trajectory": to_plain(make_episode("episode-NUMBER", tasks[0], 1.0))})
    compress = zstandard.ZstdCompressor(level=1).compress
    many.write_bytes(b"".join(compress(text.replace("NUMBER", f"{n:05d}").encode()) for n in range(MANY)))

    odd = folder / "odd" / "trajectories"
    odd.mkdir(parents=True)
    (odd / "foreign.jsonl.zst").write_bytes(b"this is no zstd file")
    newer = {"format": 99, "trajectory": to_plain(make_episode("newer/attempt-0/try-0", tasks[0], 1.0)) | {"mood": 1}}
    (odd / "newer.jsonl.zst").write_bytes(compress(json.dumps(newer).encode()) + compress(b"{}") + b"\x28\xb5")
    (folder / "odd" / "metrics.jsonl").write_text('{"step": 1, "loss": NaN}\nrubbish\n{"step": 2, "loss": 0.5}\n{"st')


def step_row(step: int) -> dict[str, float]:
    groups = {"groups_all_0": 1, "groups_mixed": 2, "groups_all_1": 1}
    return {"step": step, "success": 0.1 * step, "mean_turns": 2.5, "rollout_s": 3.0, "update_s": 1.0, **groups}


@dataclass(frozen=True)
class Viewer:
    url: str
    folder: Path


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    folder = tmp_path_factory.mktemp("viewer") / "runs"
    fill(folder)
    with serving(folder) as address:
        yield Viewer(address, folder)


@pytest.fixture
def page(chromium: Browser, viewer: Viewer) -> Iterator[Page]:
    with watched_page(chromium, viewer.url) as page:
        yield page


def test_runs_are_listed_with_what_could_not_be_read(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.url)
    page.wait_for_selector('[data-run="many"] >> text=10,000 episodes')
    assert page.inner_text('[data-run="after"] .rate') == "40 %"
    page.click('[data-run="odd"] summary')
    told = page.inner_text('[data-run="odd"] .skipped')
    assert "foreign.jsonl.zst: everything from byte 0 on: no zstd frame" in told
    assert "newer.jsonl.zst: format 99, not 3" in told
    assert "newer.jsonl.zst: the record at byte" in told
    assert "newer.jsonl.zst: the last 2 bytes are half a record" in told
    assert "metrics.jsonl: line 2 is no row of figures" in told
    page.click('[data-run="odd"] a')
    page.wait_for_selector(".item >> text=format 99")
    page.goto(f"{viewer.url}/#/metrics?run=odd")
    page.wait_for_selector('figure[data-metric="loss"]')
    assert page.locator('figure[data-metric="loss"] circle').count() == 1


def test_filters_narrow_the_list(viewer: Viewer, page: Page) -> None:
    page.goto(f"{viewer.url}/#/list?run=after")
    count = page.locator("#count")

    def expect(text: str) -> None:
        page.wait_for_function("text => document.querySelector('#count')?.textContent === text", arg=text)

    count.wait_for()
    expect("5 of 5 episodes, 2 passed")
    page.select_option("#site", "forum")
    expect("2 of 5 episodes, 0 passed")
    page.select_option("#site", "")
    page.select_option("#reward", "passed")
    expect("2 of 5 episodes, 2 passed")
    page.fill("#task", "buy.0001")
    expect("1 of 5 episodes, 1 passed")
    page.reload()
    expect("1 of 5 episodes, 1 passed")
    page.fill("#task", "")
    page.select_option("#reward", "")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("WRITE post")
    expect("1 of 5 episodes, 0 passed")
    page.fill("#search", "nowhere to be found")
    page.wait_for_selector("text=Nothing fits these filters.")

    page.goto(f"{viewer.url}/#/list?run=.&end=crashed")
    expect("1 of 10,013 episodes, 0 passed")
    page.goto(f"{viewer.url}/#/list?run=.&step=1&end=turn_limit")
    expect("1 of 10,013 episodes, 0 passed")


def test_an_episode_is_played_turn_by_turn(viewer: Viewer, page: Page) -> None:
    page.goto(f"{viewer.url}/#/list?run=before")
    page.wait_for_selector(".item.chosen")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    assert page.inner_text(".action") == 'Click link "Blue Mug" [3]'
    page.wait_for_selector(".outline.placed")
    image, outline = page.locator(".screen img").bounding_box(), page.locator(".outline").bounding_box()
    assert image is not None
    assert outline is not None
    scale = image["width"] / 1280
    assert outline["x"] - image["x"] == pytest.approx((100 - 3) * scale, abs=4)
    assert outline["width"] == pytest.approx((80 + 6) * scale, abs=4)
    assert page.inner_text(".page .acted") == "link Blue Mug [3]\n"
    assert page.locator(".piece").count() == 4
    assert "said else" in page.inner_text(".results")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#turn") == "turn 2 of 2"
    assert page.inner_text(".action") == 'Exit "done"'
    assert "** Simplified html **" in page.inner_text(".page .dropped")
    assert 'element="3"' in page.inner_text(".page .past")
    page.keyboard.press("j")
    page.wait_for_selector(".badge.passed")
    page.keyboard.press("?")
    assert page.is_visible("dialog")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_selector(".item.chosen >> text=shop.buy.0001")


def test_a_training_group_shows_its_advantages(viewer: Viewer, page: Page) -> None:
    page.goto(f"{viewer.url}/#/list?run=train&step=1")
    page.click(".item")
    # rewards 1, 0, 0: mean 1/3, std sqrt(2)/3, so sqrt(2) and twice -sqrt(1/2)
    page.wait_for_selector("text=advantage +1.41")
    assert page.locator(".member").all_inner_texts() == ["+1.41", "-0.71", "-0.71"]
    page.click(".member >> nth=2")
    page.wait_for_selector(".action.odd >> text=no action: no verb")


def test_two_episodes_stand_side_by_side(viewer: Viewer, page: Page) -> None:
    page.goto(f"{viewer.url}/#/list?run=before&task=buy.0000")
    page.click(".item")
    page.wait_for_selector("#beside")
    page.select_option("#beside", "after/trajectories/evaluate.jsonl.zst@0")
    page.wait_for_selector('[data-side="b"] .badge.passed')
    assert page.inner_text('[data-side="a"] .badge') == "failed"
    page.keyboard.press("ArrowRight")
    assert page.locator(".action").all_inner_texts() == ['Exit "done"', 'Exit "done"']
    left, right = (page.locator(f'[data-side="{side}"]').bounding_box() for side in "ab")
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] < right["x"]
    page.click("text=Close")
    page.wait_for_selector('[data-side="b"]', state="detached")

    page.keyboard.press("c")
    page.goto(f"{viewer.url}/#/list?run=after&task=buy.0001")
    page.click(".item")
    page.click("text=Open beside the kept one")
    page.wait_for_selector('[data-side="b"]')


def test_what_pages_and_models_wrote_stays_text(viewer: Viewer, page: Page) -> None:
    page.goto(f"{viewer.url}/#/list?run=after&text=script")
    page.wait_for_selector(f'.item .intent:text-is("{HOSTILE}")')
    page.click(".item")
    page.wait_for_selector(f'h1:text-is("{HOSTILE}")')
    page.keyboard.press("ArrowRight")
    for block in page.locator("main details").all():
        block.evaluate("details => details.open = true")
    assert HOSTILE in page.inner_text(".action")
    assert page.locator("main script, main img[onerror]").count() == 0


def test_a_run_under_way_is_followed(viewer: Viewer, page: Page) -> None:
    folder = viewer.folder / "train" / "reinforce"
    page.goto(f"{viewer.url}/#/metrics?run=train")
    dots = page.locator('figure[data-metric="success"] circle')
    dots.first.wait_for()
    before = dots.count()
    Metrics(folder / "metrics.jsonl").append(step_row(2))
    page.wait_for_function(
        "n => document.querySelectorAll('figure[data-metric=success] circle').length === n", arg=before + 1
    )
    page.goto(f"{viewer.url}/#/list?run=train")
    page.wait_for_selector("#count >> text=3 of 3 episodes")
    grown = TrajectoryFile(folder / "trajectories" / "step-0002.jsonl.zst")
    grown.append(make_episode("step-0002/task-00001/member-0/try-0", make_task(1), 1.0))
    page.wait_for_selector("#count >> text=4 of 4 episodes")
    assert page.inner_text("#status") == "live"


def test_ten_thousand_episodes_open_and_are_searched(viewer: Viewer, page: Page) -> None:
    page.goto(f"{viewer.url}/#/list?run=many")
    page.wait_for_selector("#count >> text=10,000 of 10,000 episodes")
    assert page.locator(".item").count() == 200
    page.click("text=Show more")
    page.wait_for_function("() => document.querySelectorAll('.item').length === 400")
    page.fill("#search", "episode-07777")
    page.wait_for_selector("#count >> text=1 of 10,000 episodes")
    page.click(".item")
    page.wait_for_selector("text=Buy a mug.")
    assert (viewer.folder / "many" / "trajectories" / "evaluate.index.json").exists()


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_screen(viewer: Viewer, page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 720})
    hostile = "after/trajectories/evaluate.jsonl.zst@4"
    first = "before/trajectories/evaluate.jsonl.zst@0"
    for address in ("#/runs", "#/list?run=after", "#/metrics?run=train", f"#/episode?a={hostile}&b={first}"):
        page.goto(f"{viewer.url}/{address}")
        page.wait_for_selector("main > *")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    page.goto(f"{viewer.url}/report?run=train")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_report_stands_alone(viewer: Viewer, page: Page) -> None:
    page.goto(f"{viewer.url}/report?run=after")
    assert page.inner_text("h1") == "after"
    assert page.locator("svg.headline .interval").count() == 1
    assert page.locator("script, link, img:not([src^='data:image/'])").count() == 0
    assert page.locator(".strip img").count() == 1  # the picture of a typical failure, with what was used ringed
    assert page.locator(".strip .screen i").count() == 1
    page.goto(f"{viewer.url}/report?run=train")
    assert page.locator("svg .mixed").count() >= 1
    assert "were not found in the success curve" in page.inner_text("body")


def test_only_what_lies_in_the_folder_is_served(viewer: Viewer) -> None:
    secret = viewer.folder.parent / "secret.png"
    secret.write_bytes(png(2, 2))
    (viewer.folder / "before" / "screenshots" / "link.png").symlink_to(secret)
    with httpx.Client(base_url=viewer.url) as client:

        def status(path: str, **parameters: str) -> int:
            return client.get(path, params=parameters).status_code

        assert status("/screenshot", run="before", name="first.png") == 200
        for name in ("link.png", "../config.toml", "../../secret.png", "config.toml", "/etc/passwd", str(secret), ""):
            assert status("/screenshot", run="before", name=name) == 404, name
        for run_name in ("..", "../..", "before/../..", "/", "before/screenshots", str(viewer.folder.parent)):
            assert status("/screenshot", run=run_name, name="secret.png") == 404, run_name
            assert status("/report", run=run_name) == 404
            assert status("/api/metrics", run=run_name) == 404
            assert status("/api/episodes", run=run_name) == 404
        for name in ("../../secret.png@0", "/etc/passwd@0", "before/config.toml@0", "x", "@", "@-1"):
            assert status("/api/episode", id=name) == 404, name
        assert status("/api/episode", id="before/trajectories/evaluate.jsonl.zst@99") == 404
        assert status("/static/..%2fserver.py") == 404
        assert client.get("/api/runs", headers={"Host": "evil.example"}).status_code == 400
        answer = client.get("/")
        assert "default-src 'none'; script-src 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_folder_that_is_not_there_and_a_port_in_use_are_named(viewer: Viewer, tmp_path: Path) -> None:
    missing = run(["view", "nowhere"], tmp_path)
    assert (missing.returncode, missing.stderr.count("\n")) == (2, 1)
    assert "there is no folder nowhere" in missing.stderr
    taken = run(["view", tmp_path, "--port", viewer.url.rpartition(":")[2]], tmp_path)
    assert taken.returncode == 2
    assert "Address already in use; choose another --port" in taken.stderr


def test_a_groups_branches_are_a_tree_whose_dots_lead_to_their_turns(tmp_path: Path, chromium: Browser) -> None:
    """Member 2 leaves member 0 after its first turn, member 3 begins a turn into a demonstration."""
    names = [f"step-0001/task-00000/member-{number}/try-0" for number in range(4)]
    task = make_task(1)
    given = {2: Given(1, names[0], "branch"), 3: Given(1, "demo-7", "demo")}
    group = [
        replace(make_episode(name, task, float(number in (1, 2))), given=given.get(number))
        for number, name in enumerate(names)
    ]
    TrajectoryFile(tmp_path / "trajectories" / "step-0001.jsonl.zst").extend(group)
    with serving(tmp_path) as address, watched_page(chromium, address) as page:
        page.goto(f"{address}/#/list?run=.")
        page.click(".item >> nth=0")
        page.wait_for_selector(".tree svg")
        assert page.locator(".tree circle").count() == 2 + 2 + 1 + 1  # only turns that were chosen
        assert page.locator(".tree path").count() == 1
        assert page.locator(".tree .given").count() == 1
        page.locator(".tree circle.passed").first.click()  # right below its trunk: the branch
        page.wait_for_selector(".member.this.passed")
        assert page.inner_text("#turn") == "turn 2 of 2"
