from __future__ import annotations

import pytest

from clickgrad.backends.tasks import without_judge
from clickgrad.backends.venues import open_judge
from clickgrad.config import Config, load_config
from clickgrad.errors import UserError
from clickgrad.types import Task
from clickgrad.webarena import AnswerRule, StringMatch, UrlMatch

READ = Task(
    "w.1", "webarena", "train", ("map",), "1", "?", "http://m", (StringMatch((AnswerRule("fuzzy_match", ("a",)),)),)
)
RULED = Task("w.2", "webarena", "train", ("map",), "1", "?", "http://m", (UrlMatch(("http://m/x",)),))


def config(**judge: str) -> Config:
    settings = [f"judge.{name}={value}" for name, value in judge.items()]
    return load_config(None, ["tasks.suite=webarena-lite", *settings], "evaluate")


def test_nobody_is_asked_unless_the_user_says_so() -> None:
    assert open_judge(config()) is None


def test_the_key_comes_from_the_environment_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "hush-hush")
    judge = open_judge(config(url="http://j/v1", model="m", key_variable="MY_KEY"))
    assert judge is not None
    assert (judge.url, judge.model, judge.key) == ("http://j/v1", "m", "hush-hush")
    assert "hush" not in repr(judge)


def test_half_a_judge_or_one_that_nobody_would_ask_is_refused() -> None:
    with pytest.raises(UserError, match=r"both judge\.url and judge\.model"):
        open_judge(config(url="http://j/v1"))
    pocket = load_config(None, ["judge.url=http://j", "judge.model=m"], "evaluate")
    with pytest.raises(UserError, match="no check of the suite pocket asks a judge"):
        open_judge(pocket)


def test_rewards_cannot_come_from_a_judge() -> None:
    with pytest.raises(UserError, match="does not read the section judge"):
        load_config(None, ["judge.model=m"], "reinforce")
    assert without_judge([READ, RULED]) == (RULED,)
    with pytest.raises(UserError, match="every task chosen takes a judge"):
        without_judge([READ])
