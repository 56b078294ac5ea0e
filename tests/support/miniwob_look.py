"""Whether a page of MiniWoB++ starts, can be seen and acted on, looked at as an agent would."""

from __future__ import annotations

from clickgrad.errors import InfraError
from clickgrad.rollout.venue import Venue, Visit
from clickgrad.types import Click, Element, Observation, PageAction, Select, Task, Type


async def fault_of(venue: Venue, task: Task) -> str:
    """What is wrong with the page, or "" when nothing is."""
    try:
        async with venue.open(task) as visit:
            page = await visit.session.observe()
            if visit.task is None or not visit.task.intent:
                return "it does not say what it wants"
            return await _fault_of_acting(visit, page)
    except InfraError as error:
        return f"{type(error).__name__}: {error}"


async def _fault_of_acting(visit: Visit, page: Observation) -> str:
    """The first action that the page takes will do."""
    notices = []
    for element in page.elements:
        notice = await visit.session.perform(_action_on(element))
        if not notice:
            return ""
        notices.append(notice)
    return notices[0] if notices else "nothing on it can be acted on"


def _action_on(element: Element) -> PageAction:
    if element.role == "textbox":
        return Type(element.id, "7")
    if element.role == "select":
        return Select(element.id, element.options[-1])
    return Click(element.id)
