"""The worked plans in docs/scale.md are what the commands above them print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from commands import call

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
WORKED = re.findall(r"^```bash\n\S*clickgrad (plan [^\n]+)\n```\n+```text\n(.*?)\n```$", PAGE.read_text(), re.M | re.S)


def test_there_are_plans_for_both_models_of_the_paper_and_for_a_thousand_browsers() -> None:
    commands = [command for command, _ in WORKED]
    for part in ("qwen2.5-3b", "llama-3.1-8b", "--browsers 1000"):
        assert any(part in command for command in commands), part


@pytest.mark.parametrize(("command", "printed"), WORKED, ids=[command for command, _ in WORKED])
def test_a_worked_plan_is_what_its_command_prints(command: str, printed: str) -> None:
    done = call(shlex.split(command), PAGE.parent)
    assert (done.returncode, done.stdout.rstrip()) == (0, printed)
