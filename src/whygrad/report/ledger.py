"""The ledger of a run as a table."""

from __future__ import annotations

from collections.abc import Iterable

from whygrad.graph import Ledger
from whygrad.graph.ledger import Stretch, Write
from whygrad.report.cells import aligned
from whygrad.source import shown_file, source_text, texts_of

_PIECES = 4
_EXCERPT = 60


class PrintedLedger(Ledger):
    """A ledger that prints as a table, and so does each part of it."""

    __slots__ = ()

    def __str__(self) -> str:
        return ledger_text(self)

    __repr__ = __str__


def printed(ledger: Ledger) -> PrintedLedger:
    return PrintedLedger(ledger.variables, ledger.writes, ledger.steps, ledger.dropped)


def ledger_text(ledger: Ledger) -> str:
    """One row for each writer of each variable, variables in the order they were made."""
    if not ledger.writes:
        return "no writes to variables were seen"
    order = {number: index for index, number in enumerate(ledger.variables)}
    rows = sorted(ledger.writes, key=lambda write: order.get(write.variable, len(order)))
    headings = ("variable", "writer", "how", "writes", "at steps", "where")
    with texts_of(ledger.sources):
        text = aligned(headings, _cells(ledger, rows), right=("writes",))
    return text if not ledger.dropped else f"{text}\n{ledger.dropped} more writers were seen and are not kept"


def _cells(ledger: Ledger, rows: Iterable[Write]) -> Iterable[tuple[str, ...]]:
    before = None
    for write in rows:
        name = ledger.name_of(write)
        count = f"≤ {write.count}" if write.conditional else str(write.count)
        writer = f"{write.kind} {write.writer}".strip()
        yield ("" if name == before else name, writer, write.method, count, steps_text(write.steps), _place(write))
        before = name


def steps_text(stretches: tuple[Stretch, ...]) -> str:
    """`1-200`, `10-200 every 10`, `3, 17, 91`."""
    pieces = [_piece(stretch) for stretch in stretches]
    if len(pieces) > _PIECES:
        pieces = [*pieces[:2], "…", pieces[-1]]
    return ", ".join(pieces)


def _piece(stretch: Stretch) -> str:
    first = "before" if stretch.first == 0 else str(stretch.first)
    if stretch.first == stretch.last:
        return first
    if stretch.every == 0:
        return f"some of {first}-{stretch.last}"
    if stretch.last - stretch.first == stretch.every:
        return f"{first}, {stretch.last}"
    return f"{first}-{stretch.last}" + (f" every {stretch.every}" if stretch.every > 1 else "")


def _place(write: Write) -> str:
    if write.where is None:
        return ""
    text = source_text(write.where) or ""
    excerpt = text if len(text) <= _EXCERPT else f"{text[: _EXCERPT - 1]}…"
    return f"{shown_file(write.where.file)}:{write.where.line}  {excerpt}".rstrip()
