"""Tasks on two sites: look something up in one tab, use it in the other. Each template pairs a fact with a deed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from clickgrad.tasks.moves import Move, Script, Way, finish
from clickgrad.tasks.multi import deeds, facts
from clickgrad.tasks.multi.deeds import Deed
from clickgrad.tasks.multi.facts import Fact, Reading
from clickgrad.tasks.templates import Draft, Template
from clickgrad.types import Observation, StateCheck, SwitchTab, Task

Facts = Callable[[int, random.Random], Iterator[Fact]]
Deeds = Callable[[int, random.Random], Iterator[Deed]]
Read = Callable[[Task, Observation], Reading]
Do = Callable[[Task, Observation, str], Way]

__all__ = ["MULTI_TEMPLATES"]


def _template(
    name: str, fact: tuple[str, Facts, Read], deed: tuple[str, Deeds, Do], *, unseen: bool = False
) -> Template:
    (from_site, all_facts, read), (to_site, all_deeds, do) = fact, deed

    def drafts(seed: int) -> Iterator[Draft]:
        rng = random.Random(f"multi.{name} {seed}")
        for found, asked in zip(all_facts(seed, rng), all_deeds(seed, rng), strict=False):
            yield Draft(
                intent=asked.asked.format(fact=found.said),
                start_path=found.path,
                checks=(StateCheck(asked.rows(found.value)),),
                expert_turns=found.turns + 1 + asked.turns + 1,  # read, switch the tab, do, exit
                params=(("of", found.of), *asked.params),
            )

    def script(task: Task, page: Observation) -> Script:
        page, value = yield from read(task, page)
        page = yield Move(SwitchTab(1), f"Note: {task.param('of')}: {value}", "the rest is done in the other tab")
        yield from do(task, page, value)
        yield finish("done", "it is done")

    return Template("multi", name, drafts, script, (from_site, to_site), unseen)


_PRICE = ("shop", facts.prices, facts.read_price)
_PHONE = ("map", facts.phones, facts.read_phone)
_ADDRESS = ("map", facts.addresses, facts.read_address)
_STARS = ("code", facts.stars, facts.read_stars)
_STATUS = ("admin", facts.statuses, facts.read_status)
_AUTHOR = ("forum", facts.authors, facts.read_author)

_POST = ("forum", deeds.posts, deeds.play_post)
_MESSAGE = ("forum", deeds.messages, deeds.play_message)
_ISSUE = ("code", deeds.issues, deeds.play_issue)
_LETTER = ("shop", deeds.letters_to_shop, deeds.play_letter)
_NOTE = ("admin", deeds.order_notes, deeds.play_note)
_PLACE = ("map", deeds.saved_places, deeds.play_saved_place)

MULTI_TEMPLATES = (
    _template("price_to_forum", _PRICE, _POST),
    _template("phone_to_message", _PHONE, _MESSAGE),
    _template("status_to_message", _STATUS, _MESSAGE),
    _template("price_to_issue", _PRICE, _ISSUE),
    _template("phone_to_order_note", _PHONE, _NOTE),
    _template("author_to_issue", _AUTHOR, _ISSUE),
    _template("stars_to_forum", _STARS, _POST),
    _template("address_to_shop", _ADDRESS, _LETTER),
    _template("author_to_place", _AUTHOR, _PLACE, unseen=True),
    _template("status_to_issue", _STATUS, _ISSUE, unseen=True),
)
