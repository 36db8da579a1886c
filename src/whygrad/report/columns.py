"""Rows of text as aligned columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def aligned(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[str] = ()) -> str:
    """A table in plain text, as wide as it needs; the columns named in `right` are numbers."""
    from whygrad.report.cells import width

    table = [list(headings), *(list(row) for row in rows)]
    numbers = {index for index, heading in enumerate(headings) if heading in set(right)}
    widths = [max(width(row[index]) for row in table) for index in range(len(headings))]

    def cell(text: str, index: int) -> str:
        space = " " * (widths[index] - width(text))
        return space + text if index in numbers else text + space

    return "\n".join("  ".join(cell(text, index) for index, text in enumerate(row)).rstrip() for row in table)
