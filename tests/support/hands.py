"""Acting on what is seen, by its name."""

from __future__ import annotations

from clickgrad.browser import Session
from clickgrad.types import Click


async def look(session: Session, name: str) -> int:
    return next(element.id for element in (await session.observe()).elements if element.name == name)


async def click(session: Session, name: str) -> str:
    return await session.perform(Click(await look(session, name)))
