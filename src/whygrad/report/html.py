"""Findings as HTML with its own style, no script and nothing to fetch: in notebooks, and as the cards of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import unified_diff
from html import escape
from itertools import pairwise

from whygrad.diagnostics import Diagnostic, Fix, Label, Severity
from whygrad.report.cells import visible, width, window
from whygrad.report.excerpt import Excerpt, ExcerptLine, Mark, excerpts
from whygrad.report.reach import HEADINGS, TITLE, norm_tables, reach_rows
from whygrad.report.remarks import Remark, headline, place, remarks, title
from whygrad.report.report_data import ReportData
from whygrad.report.summary import failing, summary
from whygrad.source import SourceSpan, file_text, texts_of
from whygrad.source.editing import EditError, edited

_LONGEST_LINE = 160  # cells; a browser scrolls, but what is marked should be in sight


def fragment(report: ReportData) -> str:
    """A `<div>` to put into any page, as a notebook does."""
    return f"<div class='whygrad'><style>{STYLE}</style>\n{content(report)}\n</div>"


def content(report: ReportData) -> str:
    """All that is said, for a page that has the style."""
    said = [summary(report), *filter(None, [failing(report)])]
    parts = [f"<p class='wg-summary'>{escape(line)}</p>" for line in said]
    with texts_of(report.sources):
        parts += [card(diagnostic) for diagnostic in report.diagnostics]
    if rows := reach_rows(report):
        parts.append(_table(TITLE, HEADINGS, rows))
    parts += [_table(*table) for table in norm_tables(report)]
    return "\n".join(parts)


def card(diagnostic: Diagnostic) -> str:
    """One finding: what is wrong, the user's source with the place marked, the evidence, the fix."""
    body = "".join(_excerpt(excerpt) for excerpt in excerpts(diagnostic))
    said = "".join(_remark(remark) for remark in remarks(diagnostic))
    fix = _change(diagnostic.fixes[0]) if diagnostic.fixes else ""
    return (
        f"<details open class='wg-diagnostic wg-{diagnostic.severity.label}'>"
        f"<summary><b>{escape(title(diagnostic))}</b> {_prose(headline(diagnostic))}</summary>"
        f"{body}<ul>{said}</ul>{fix}</details>"
    )


def excerpt_at(span: SourceSpan, *, primary: bool) -> str:
    """The source at one place, marked as the cause or as a place of note."""
    label = Label(span, "")
    bare = Diagnostic(code="", rule="", severity=Severity.NOTE, message="", primary=label if primary else None)
    return "".join(_excerpt(each) for each in excerpts(bare if primary else replace(bare, related=(label,))))


def _change(fix: Fix) -> str:
    """The lines that a fix takes away and adds; nothing where the source cannot be had."""
    shown = list[str]()
    for file in dict.fromkeys(edit.span.file for edit in fix.edits):
        before = file_text(file)
        try:
            after = edited(before, ((edit.span, edit.text) for edit in fix.edits if edit.span.file == file))
        except EditError:
            return ""
        for line in list(unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm=""))[2:]:
            mark = {"-": "del", "+": "ins"}.get(line[:1])
            if mark is not None:
                shown.append(f"<{mark}>{line[0]} {escape(visible(line[1:]))}</{mark}>")
    lines = "\n".join(shown)
    return f"<pre class='wg-diff'>{lines}</pre>" if shown else ""


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


def _table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        f"<tr><td><code>{escape(first)}</code></td>{''.join(f'<td>{escape(text)}</td>' for text in rest)}</tr>"
        for first, *rest in rows
    )
    return f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _prose(text: str) -> str:
    """Text with its `code` as code."""
    lines = "<br>".join(escape(visible(line)) for line in text.split("\n"))
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", lines)


# Text and background are the page's own, so that a dark page stays dark. JupyterLab's theme is asked for the accents;
# the fallbacks can be read on light and on dark.
STYLE = """
.whygrad { --wg-error: var(--jp-error-color1, #d64545); --wg-warning: var(--jp-warn-color1, #b97a00);
  --wg-note: var(--jp-info-color1, #1c8ca8); --wg-second: #5b83d6; --wg-tint: rgba(128, 128, 128, .12);
  font-family: var(--jp-ui-font-family, system-ui, sans-serif); font-size: 14px; line-height: 1.45;
  max-width: 72em; }
.whygrad .wg-summary { font-weight: 600; margin: .4em 0; }
.whygrad .wg-error { --wg-accent: var(--wg-error); }
.whygrad .wg-warning { --wg-accent: var(--wg-warning); }
.whygrad .wg-note { --wg-accent: var(--wg-note); }
.whygrad .wg-diagnostic { border-left: 3px solid var(--wg-accent); margin: .6em 0; padding: .2em .8em; }
.whygrad summary { cursor: pointer; }
.whygrad summary b { color: var(--wg-accent); }
.whygrad .wg-place, .whygrad pre, .whygrad code { font-family: var(--jp-code-font-family, monospace);
  font-size: .93em; }
.whygrad .wg-place { opacity: .75; margin-top: .5em; }
.whygrad pre { background: var(--wg-tint); color: inherit; border-radius: 4px; padding: .5em .7em;
  margin: .3em 0; overflow-x: auto; white-space: pre; line-height: 1.45; }
.whygrad code { background: var(--wg-tint); color: inherit; border-radius: 3px; padding: 0 .25em; }
.whygrad pre code { background: none; padding: 0; font-size: inherit; }
.whygrad .wg-number { opacity: .5; user-select: none; }
.whygrad mark { background: none; color: inherit; padding: 0; border-bottom: 2px solid var(--wg-accent); }
.whygrad mark.wg-primary { background: color-mix(in srgb, var(--wg-accent) 18%, transparent); }
.whygrad mark.wg-secondary { border-bottom: 2px dotted var(--wg-second); }
.whygrad span.wg-primary { color: var(--wg-accent); font-weight: 600; }
.whygrad span.wg-secondary { color: var(--wg-second); }
.whygrad .wg-diff del, .whygrad .wg-diff ins { text-decoration: none; }
.whygrad .wg-diff del { color: var(--wg-error); }
.whygrad .wg-diff ins { color: var(--wg-note); }
.whygrad ul { list-style: none; margin: .4em 0; padding: 0; }
.whygrad li { display: grid; grid-template-columns: 3.2em 1fr; margin: .15em 0; }
.whygrad li b { opacity: .75; }
.whygrad table { border-collapse: collapse; margin: .8em 0; }
.whygrad caption { text-align: left; font-weight: 600; padding-bottom: .3em; }
.whygrad th, .whygrad td { text-align: left; padding: .2em 1.2em .2em 0; vertical-align: top;
  border-bottom: 1px solid var(--wg-tint); }
"""
