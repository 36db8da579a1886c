"""The form for notebooks and browsers: one piece of HTML with its own style and nothing to fetch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import pairwise

from whygrad.diagnostics import Diagnostic
from whygrad.report.cells import visible, width, window
from whygrad.report.excerpt import Excerpt, ExcerptLine, Mark, excerpts
from whygrad.report.html_style import STYLE
from whygrad.report.reach import HEADINGS, TITLE, ReachRow, reach_rows
from whygrad.report.remarks import Remark, headline, place, remarks, title
from whygrad.report.report_data import ReportData
from whygrad.report.summary import failing, summary
from whygrad.source import texts_of

_LONGEST_LINE = 160  # cells; a browser scrolls, but what is marked should be in sight


def fragment(report: ReportData) -> str:
    """A `<div>` to put into any page, as a notebook does."""
    said = [summary(report), *filter(None, [failing(report)])]
    parts = [f"<p class='wg-summary'>{escape(line)}</p>" for line in said]
    with texts_of(report.sources):
        parts += [_diagnostic(diagnostic) for diagnostic in report.diagnostics]
    if rows := reach_rows(report):
        parts.append(_reach_table(rows))
    return "\n".join([f"<div class='whygrad'><style>{STYLE}</style>", *parts, "</div>"])


def document(report: ReportData) -> str:
    """A whole page that can be saved and opened, without a network."""
    return "\n".join(
        [
            "<!DOCTYPE html>",
            "<html lang='en'>",
            "<head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>",
            "<meta name='color-scheme' content='light dark'><title>whygrad</title></head>",
            f"<body>{fragment(report)}</body>",
            "</html>",
        ]
    )


def _diagnostic(diagnostic: Diagnostic) -> str:
    body = "".join(_excerpt(excerpt) for excerpt in excerpts(diagnostic))
    said = "".join(_remark(remark) for remark in remarks(diagnostic))
    return (
        f"<details open class='wg-diagnostic wg-{diagnostic.severity.label}'>"
        f"<summary><b>{escape(title(diagnostic))}</b> {_prose(headline(diagnostic))}</summary>"
        f"{body}<ul>{said}</ul></details>"
    )


def _remark(remark: Remark) -> str:
    text = f"`{remark.text}`" if remark.kind == "more" else remark.text
    return f"<li><b>{remark.kind}</b> <span>{_prose(text)}</span></li>"


def _excerpt(excerpt: Excerpt) -> str:
    label = f" {_prose(excerpt.text)}" if excerpt.text else ""
    where = f"<div class='wg-place'>{escape(visible(place(excerpt.span)))}{label}</div>"
    if not excerpt.lines:
        return where
    gutter = max(len(str(line.number)) for line in excerpt.lines if line is not None)
    rows = [row for line in excerpt.lines for row in _rows(line, gutter)]
    return where + "<pre>" + "\n".join(rows) + "</pre>"


def _rows(line: ExcerptLine | None, gutter: int) -> Iterator[str]:
    if line is None:
        yield _margin("…", gutter)
        return
    first = line.marks[0] if line.marks else Mark(0, 1, False)
    low, high = window(line.text, first.start, first.end, _LONGEST_LINE)
    before, after = "…" if low else "", "…" if high < len(line.text) else ""
    yield _margin(str(line.number), gutter) + before + "".join(_pieces(line, low, high)) + after
    for mark in line.marks:
        if mark.text:
            offset = len(before) + width(visible(line.text[low : max(low, min(mark.start, high))]))
            text = _prose(visible(" ".join(mark.text.split())))
            yield f"{_margin('', gutter)}{' ' * offset}<span class='{_kind(mark)}'>↑ {text}</span>"


def _pieces(line: ExcerptLine, low: int, high: int) -> Iterator[str]:
    """The line cut at the ends of its marks, each piece in the style of the shortest mark that covers it."""
    ends = {end for mark in line.marks for end in (mark.start, mark.end)}
    cuts = sorted({low, high} | {end for end in ends if low < end < high})
    for start, end in pairwise(cuts):
        text = escape(visible(line.text[start:end]))
        over = [mark for mark in line.marks if mark.start <= start and end <= mark.end]
        top = min(over, key=lambda mark: (mark.end - mark.start, not mark.primary), default=None)
        yield text if top is None else f"<mark class='{_kind(top)}'>{text}</mark>"


def _kind(mark: Mark) -> str:
    return "wg-primary" if mark.primary else "wg-secondary"


def _margin(text: str, gutter: int) -> str:
    return f"<span class='wg-number'>{text:>{gutter}} │ </span>"


def _reach_table(rows: tuple[ReachRow, ...]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in HEADINGS)
    body = "".join(
        f"<tr><td><code>{escape(row.loss)}</code></td>"
        + "".join(f"<td>{escape(text)}</td>" for text in row[1:])
        + "</tr>"
        for row in rows
    )
    return f"<table><caption>{TITLE}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _prose(text: str) -> str:
    """Text with its `code` as code."""
    lines = "<br>".join(escape(visible(line)) for line in text.split("\n"))
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", lines)
