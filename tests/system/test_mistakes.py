"""Sixty-five mistakes that people make: each is one line on stderr and exit code 2, never a traceback."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from clickgrad.cli import main

NOOP = "--policy scripted:noop"
MISTAKES = {
    # words that are none
    "trian": "there is no command 'trian' (did you mean 'train'?)",
    "evaluate --polcy x": "did you mean '--policy'?",
    "tasks --split tset": "did you mean 'test'?",
    "bench browsr": "did you mean 'browser'?",
    "bench learn --compute bfloat16 --lora-rank 0": "give a --lora-rank above 0",
    "study trun": "did you mean 'turns'?",
    "watch --pace fast": "invalid float value: 'fast'",
    "view": "the following arguments are required: RUN",
    "film": "the following arguments are required: FILE",
    "run goal": "the following arguments are required: --url",
    "demos": "the following arguments are required: --out",
    "compare": "the following arguments are required: RUN",
    "options nothing": "no section or option 'nothing'",
    "options reinfroce": "did you mean 'reinforce'?",
    "options reinforce.step": "did you mean 'reinforce.steps'?",
    # options
    "train --set reinforce.stpes=3": "did you mean 'reinforce.steps'?",
    "train --set reinforce.steps=many": "option reinforce.steps",
    "train --set reinforce.steps=-1": "option reinforce.steps",
    "train --set reinforce.steps": "write it as section.option=value",
    "train --set =3": "write it as section.option=value",
    "train --set nowhere.lr=3": "unknown option nowhere",
    "train --set seed.deep=3": "seed is not a section",
    "train --set clone.held_out=1": "option clone.held_out",
    "train --set model.compute=int8 --set model.dtype=bfloat16": "clickgrad: model.compute does nothing",
    "train --set agent.reply_format=json": "option agent.reply_format",
    "train --set tasks.templates=shop.wish_list": "option tasks.templates",
    "evaluate --set reinforce.lr=1": "does not read the section reinforce",
    "watch --set evaluate.limit=1": "does not read the section evaluate",
    "record --set clone.lr=1": "does not read the section clone",
    "film x --set model.path=y": "does not read the section model",
    f"evaluate {NOOP} --set model.path=x": "says already which model it is",
    f"evaluate {NOOP} --set chat.tries=1": "no hosted model is asked",
    "train --config quik": "did you mean 'quick'?",
    "train --config missing.toml": "No such file",
    "train --config broken.toml": "is not TOML",
    "train --config binary.toml": "is not a text file",
    "train --config strange.toml": "unknown option colour",
    # policies and models
    "evaluate --policy nobody": "unknown policy 'nobody'",
    "evaluate --policy scripted:hero": "unknown policy 'scripted:hero'",
    "evaluate --policy chat:": "names no model",
    "evaluate --policy shipped:giant": "no such policy ships with clickgrad",
    "evaluate --policy torch:./nowhere": "not found",
    "watch --policy shipped:giant": "no such policy ships with clickgrad",
    "watch --policy scripted:noop --policy scripted:noop --policy scripted:noop": "at most 2 are shown side by side",
    "record --policy nobody": "unknown policy 'nobody'",
    "demo --policy nobody": "unknown policy 'nobody'",
    "clone --set model.path=./nowhere": "not found",
    # tasks
    "tasks --suite pockte": "did you mean 'pocket'?",
    "tasks --suite missing.json": "missing.json",
    "tasks --suite broken.json": "broken.json",
    "tasks --site shpo": "no task of pocket fits",
    "tasks --show nothing.0001": "no task of pocket fits",
    f"watch shop.wishlist.0006 {NOOP}": "did you mean 'shop.wish_list.0006'?",
    "record --task shop.wishlist.0006": "did you mean 'shop.wish_list.0006'?",
    f"evaluate {NOOP} --set tasks.templates=['shop.wishlist']": "did you mean 'shop.wish_list'?",
    f"evaluate {NOOP} --set tasks.sites=['shpo']": "did you mean 'shop'?",
    # files
    "view nowhere": "there is no folder nowhere",
    "film nowhere.jsonl.zst": "there is no trajectory file nowhere.jsonl.zst",
    "film foreign.jsonl.zst": "foreign.jsonl.zst",
    "replay nowhere.jsonl.zst": "there is no trajectory file nowhere.jsonl.zst",
    "replay empty.jsonl.zst": "there is nothing to replay",
    "clone --demos nowhere.jsonl.zst": "there is no such file",
    "prove --demos nowhere.jsonl.zst": "there is no such file",
    "record --out foreign.jsonl.zst": "is no trajectory file",
    "compare nowhere elsewhere": "nowhere",
    "rejudge nowhere": "nowhere",
    # places to listen at
    "view . --no-open --port PORT": "choose another --port",
    f"watch {NOOP} --no-open --run w --port PORT": "choose another --port",
    "view . --no-open --host nowhere.invalid": "give another --host",
    "view . --no-open --port 99999": "99999",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "broken.toml").write_text("a = = 1")
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (folder / "strange.toml").write_text('colour = "red"\n')
    (folder / "broken.json").write_text("{")
    (folder / "foreign.jsonl.zst").write_bytes(b"this is no trajectory")
    (folder / "empty.jsonl.zst").write_bytes(b"")
    return folder


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """One that somebody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield int(taken.getsockname()[1])


def test_there_are_as_many_as_were_promised() -> None:
    assert len(MISTAKES) >= 65


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_line(words: str, folder: Path, port: int, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        with chdir(folder):
            code = main(shlex.split(words.replace("PORT", str(port)).replace("['", "\"['").replace("']", "']\"")))
    except SystemExit as ended:
        code = int(ended.code or 0)
    told = capsys.readouterr().err
    assert (code, told.count("\n")) == (2, 1), told
    assert told.startswith("clickgrad: ")
    assert MISTAKES[words] in told
