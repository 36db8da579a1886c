"""The form for people: one diagnostic as a compiler would show it, and a report of them."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from whygrad.diagnostics import Diagnostic, Severity
from whygrad.report.cells import visible, width, wrap
from whygrad.report.drawing import draw
from whygrad.report.excerpt import Excerpt, excerpts
from whygrad.report.reach import HEADINGS, TITLE, ReachRow, norm_tables, reach_rows
from whygrad.report.remarks import Remark, headline, place, remarks, title
from whygrad.report.report_data import ReportData
from whygrad.report.summary import failing, summary
from whygrad.source import texts_of

DEFAULT_WIDTH = 100

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_GUTTER = "bold blue"
_NARROWEST = 40  # below this a source line would be all ellipsis
_NARROWEST_LIST = 24  # of names in a table: below this every name is broken
_WIDEST_PROSE = 100  # longer lines of prose are hard to read, however wide the terminal


def render_diagnostic(diagnostic: Diagnostic, *, color: bool = False, width: int = DEFAULT_WIDTH) -> str:
    """One diagnostic, without a line end."""
    return _paint(_diagnostic(diagnostic, max(width, _NARROWEST)), color)


def render_text(
    report: ReportData, *, color: bool = False, width: int = DEFAULT_WIDTH, omit: Collection[Diagnostic] = ()
) -> str:
    """All diagnostics, the losses where there are several, and the summary.

    Those in `omit` were shown already: they are counted, not shown again.
    """
    width = max(width, _NARROWEST)
    shown = [diagnostic for diagnostic in report.diagnostics if diagnostic not in omit]
    with texts_of(report.sources):
        blocks = [_paint(_diagnostic(diagnostic, width), color) for diagnostic in shown]
    if rows := reach_rows(report):
        blocks.append(_reach_table(rows, color, width))
    blocks += [_table(*table, color, width) for table in norm_tables(report)]
    if troubles := _comments(report):
        blocks.append(_paint([Text(visible(each)) for each in troubles], color))
    if (failed := failing(report)) is not None:
        blocks.append(_paint([Text(visible(failed))], color))
    blocks.append(_paint([Text(summary(report), "bold")], color))
    return "\n\n".join(blocks)


def _comments(report: ReportData) -> list[str]:
    """What is wrong with comments that were meant to silence a rule."""
    troubles = report.run.get("comments", ())
    return [f"note: {each}" for each in troubles] if isinstance(troubles, list) else []


def _diagnostic(diagnostic: Diagnostic, room: int) -> Iterator[Text]:
    style = _STYLES[diagnostic.severity]
    shown = excerpts(diagnostic)
    numbers = [line.number for excerpt in shown for line in excerpt.lines if line is not None]
    gutter = len(str(max(numbers, default=0)))
    yield Text.assemble((title(diagnostic), style), (f": {visible(headline(diagnostic))}", "bold"))
    for index, excerpt in enumerate(shown):
        yield from _excerpt(excerpt, "-->" if index == 0 else ":::", gutter, room, style)
    for remark in remarks(diagnostic):
        yield from _remark(remark, gutter, min(room, _WIDEST_PROSE))


def _excerpt(excerpt: Excerpt, arrow: str, gutter: int, room: int, style: str) -> Iterator[Text]:
    margin = " " * gutter
    label = f": {' '.join(excerpt.text.split())}" if excerpt.text else ""
    yield Text.assemble((f"{margin}{arrow} ", _GUTTER), visible(place(excerpt.span)), (visible(label), style))
    if not excerpt.lines:
        return
    yield Text(f"{margin} |", _GUTTER)
    for line in excerpt.lines:
        if line is None:
            yield Text("...", _GUTTER)
            continue
        source, *below = draw(line, room - gutter - 3, style)
        yield Text.assemble((f"{line.number:>{gutter}} | ", _GUTTER), source)
        for row in below:
            yield Text.assemble((f"{margin} | ", _GUTTER), row)
    yield Text(f"{margin} |", _GUTTER)


def _remark(remark: Remark, gutter: int, room: int) -> Iterator[Text]:
    margin = " " * gutter
    start = f"{margin} = {remark.kind}: "
    for index, line in enumerate(wrap(remark.text, room - width(start))):
        if index == 0:
            yield Text.assemble((f"{margin} = ", _GUTTER), (f"{remark.kind}: ", "bold"), line)
        else:
            yield Text(" " * width(start) + line)


def _reach_table(rows: tuple[ReachRow, ...], color: bool, width: int) -> str:
    filled = [column for column in range(len(HEADINGS)) if any(row[column] for row in rows)]
    cells = [[row[column] for column in filled] for row in rows]
    return _table(TITLE, [HEADINGS[column] for column in filled], cells, color, width)


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], color: bool, page: int) -> str:
    table = Table(box=None, padding=(0, 2, 0, 0))
    room = 0  # that the table needs, be the page as narrow as it may
    for column, heading in enumerate(headings):
        whole = column < 2  # a term, a place; lists of names may be folded
        widest = max(width(visible(cell)) for cell in (heading, *(row[column] for row in rows)))
        least = widest if whole else min(widest, _NARROWEST_LIST)
        table.add_column(visible(heading), overflow="fold", no_wrap=whole, min_width=least, header_style=_GUTTER)
        room += least + 2
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console = _console(color, max(page, room))
    console.print(Text(visible(title), "bold"))
    console.print(table)
    return _finish(console)


def _paint(lines: Iterable[Text], color: bool) -> str:
    if not color:
        return "\n".join(line.plain.rstrip() for line in lines)
    console = _console(color, DEFAULT_WIDTH)
    for line in lines:
        line.rstrip()
        console.print(line, soft_wrap=True)
    return _finish(console)


def _console(color: bool, width: int) -> Console:
    """A page that asks no terminal and no environment. The colours are the sixteen every terminal has."""
    return Console(
        file=io.StringIO(),
        width=width,
        color_system="standard" if color else None,
        force_terminal=color,
        force_jupyter=False,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},
    )


def _finish(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().rstrip("\n").split("\n"))
