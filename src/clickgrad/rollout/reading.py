"""Where an agent is in a page that is longer than its tokens. Knows lines, neither tokens nor the browser.

A prompt may have to cut a page within the viewport, and a browser that scrolls on from there passes over all that was
cut. So a scroll first goes through the lines of the page as it stands; only from their last or first one is it the
browser's. The observation says by itself at which line it begins: whoever tells it again tells the same.
"""

from __future__ import annotations

from dataclasses import replace

from clickgrad.types import Action, Observation, ScrollDown, ScrollUp, Unparsable


class Reading:
    """One episode's place in the page before it: show the page, then say what the agent did."""

    def __init__(self) -> None:
        self._starts = [0]  # the lines at which the page was shown, from its top to where the agent is now
        self._shown: Observation | None = None
        self._action: Action | Unparsable | None = None
        self._paged = False
        self._read_as = ""

    def show(self, page: Observation) -> Observation:
        """The page from where the agent has come to; from its top, if it is another one."""
        if not self._stays(page):
            self._starts = [0]
        told = with_notice_of(self._action, page, self._paged, self._read_as) if self._action else page
        self._shown = replace(told, first=self._starts[-1])
        return self._shown

    def turn(self, action: Action | Unparsable, cut: int | None, read_as: str = "") -> bool:
        """Whether the action only moves on through the lines shown, of which `cut` was the first without room."""
        self._action, self._paged, self._read_as = action, True, read_as
        match action:
            case ScrollDown() if cut is not None and cut > self._starts[-1]:
                self._starts.append(cut)
            case ScrollUp() if len(self._starts) > 1:
                self._starts.pop()
            case _:
                self._paged = False
        return self._paged

    def _stays(self, page: Observation) -> bool:
        """Whether the agent is still at its place: what it has scrolled past is as it was, and nothing has moved."""
        was = self._shown
        if was is None or (was.url, was.tab) != (page.url, page.tab):
            return False
        if self._paged:  # a page that never stops changing has to be read on all the same
            return self._starts[-1] < len(page.lines)
        above = len(was.lines) if isinstance(self._action, ScrollDown | ScrollUp) else was.first
        return was.lines[:above] == page.lines[:above]


def with_notice_of(
    action: Action | Unparsable, page: Observation, paged: bool = False, read_as: str = ""
) -> Observation:
    """With the notice that belongs there: a session's own is about the last action that reached it."""
    if isinstance(action, Unparsable):
        return replace(page, notice=f"the last reply was no action: {action.reason}")
    notice = "" if paged else page.notice
    if read_as:
        notice = " ".join(filter(None, [f"the last reply was read as {read_as}.", notice]))
    return page if notice == page.notice else replace(page, notice=notice)
