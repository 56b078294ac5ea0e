"""docs/actions.md lists every action as the prompt and the grammar have it."""

from __future__ import annotations

import re

import pytest
from documents import DOCS

from clickgrad.agent.grammar import VERBS, ActionSet, parse
from clickgrad.agent.prompt import action_table, system_prompt
from clickgrad.types import Unparsable

PAGE = (DOCS / "actions.md").read_text("utf-8")


@pytest.mark.parametrize("actions", ["paper", "full"])
def test_every_action_is_on_the_page_in_the_prompt_and_in_the_grammar(actions: ActionSet) -> None:
    listed = re.findall(r"^\| `((?:do|exit|go_)[^`]*)` \|", PAGE, re.MULTILINE)
    table = list(action_table(actions))
    assert [call for call in listed if call in table] == table
    prompt = system_prompt("full", "plain", actions)
    assert all(call in prompt for call in table)
    assert not any(isinstance(parse(call, "plain", actions), Unparsable) for call in table)
    verbs = {found[1] for call in table if (found := re.match(r'do\(action="([^"]+)"', call))}
    assert verbs == set(VERBS[actions])


def test_the_page_lists_no_action_that_there_is_not() -> None:
    listed = re.findall(r"^\| `((?:do|exit|go_)[^`]*)` \|", PAGE, re.MULTILINE)
    assert set(listed) == set(action_table("full"))


def test_the_paper_has_fourteen_actions_and_knows_none_of_the_others() -> None:
    assert len(action_table("paper")) == 14
    more = set(action_table("full")) - set(action_table("paper"))
    assert all(isinstance(parse(call, "plain", "paper"), Unparsable) for call in more)
