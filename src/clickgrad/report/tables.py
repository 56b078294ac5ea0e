"""Tables as Markdown and for the terminal: a header, and rows of text of which all but the first column are figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        ruler = ["---", *["---:"] * (len(self.header) - 1)]
        return "\n".join(_markdown_row(row) for row in (self.header, ruler, *self.rows))

    def text(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        lines = [_text_row(row, widths) for row in (self.header, *self.rows)]
        return "\n".join([lines[0], "─" * (sum(widths) + 2 * (len(widths) - 1)), *lines[1:]])


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"


def _text_row(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *figures = cells
    rest = (figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True))
    return "  ".join([name.ljust(widths[0]), *rest]).rstrip()
