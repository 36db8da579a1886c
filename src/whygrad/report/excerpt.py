"""Which lines of source a diagnostic shows, and which characters of them it marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whygrad.diagnostics import Diagnostic, Label
from whygrad.source import SourceSpan, source_line

_LONGEST_SPAN = 6  # lines of one span that are all shown
_KEPT_ENDS = 3  # lines kept at each end of a longer one
_BRIDGE = 2  # lines between two marks that are shown rather than left out


_Marked = tuple[Label, bool]  # whether it is the primary label


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters `start` to `end` of a line; `text` is empty where its label stands at another line."""

    start: int
    end: int  # greater than `start`; may be one past the end of the line
    primary: bool
    text: str = ""


@dataclass(frozen=True, slots=True)
class ExcerptLine:
    number: int
    text: str
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of one file. None among them: some were left out. No lines at all: the source cannot be had."""

    span: SourceSpan
    lines: tuple[ExcerptLine | None, ...] = ()
    text: str = ""  # the label, where there is no line to put it at


def excerpts(diagnostic: Diagnostic) -> tuple[Excerpt, ...]:
    """One for each file that the labels point into, that of the primary label first."""
    labels = [(label, False) for label in diagnostic.related]
    if diagnostic.primary is not None:
        labels.insert(0, (diagnostic.primary, True))
    by_file: dict[str, list[_Marked]] = {}
    for label, primary in labels:
        by_file.setdefault(label.span.file, []).append((label, primary))
    return tuple(excerpt for group in by_file.values() for excerpt in _of_one_file(group))


def _of_one_file(labels: Sequence[_Marked]) -> Iterator[Excerpt]:
    readable = [each for each in labels if source_line(each[0].span.file, each[0].span.line) is not None]
    if readable:
        yield Excerpt(readable[0][0].span, tuple(_lines(readable)))
    yield from (Excerpt(each[0].span, text=each[0].text) for each in labels if each not in readable)


def _lines(labels: list[_Marked]) -> Iterator[ExcerptLine | None]:
    file = labels[0][0].span.file
    marks: dict[int, list[Mark]] = {}
    for label, primary in labels:
        for number, mark in _marks(label, primary):
            marks.setdefault(number, []).append(mark)
    previous = None
    for number in sorted(marks):
        if previous is not None:
            yield from _between(file, range(previous + 1, number), labels)
        yield ExcerptLine(number, source_line(file, number) or "", tuple(marks[number]))
        previous = number


def _between(file: str, hidden: range, labels: list[_Marked]) -> Iterator[ExcerptLine | None]:
    if not hidden:
        return
    lines = [ExcerptLine(number, source_line(file, number) or "") for number in hidden[: _BRIDGE + 1]]
    # A line of a span that is shown without a mark would look as if it were not of the span.
    marked = any(label.span.contains_line(line.number) for label, _ in labels for line in lines if line.text.strip())
    if len(lines) > _BRIDGE or marked:
        yield None
    else:
        yield from lines


def _marks(label: Label, primary: bool) -> list[tuple[int, Mark]]:
    """The lines of one label that are shown, each with what is marked of it; the last one has the text."""
    span = label.span
    last = span.line
    while last < span.last_line and source_line(span.file, last + 1) is not None:
        last += 1
    numbers = list(range(span.line, last + 1))
    if len(numbers) > _LONGEST_SPAN:
        numbers = numbers[:_KEPT_ENDS] + numbers[-_KEPT_ENDS:]
    marked = [(number, extent) for number in numbers if (extent := _extent(span, number)) is not None]
    return [
        (number, Mark(*extent, primary, label.text if index == len(marked) - 1 else ""))
        for index, (number, extent) in enumerate(marked)
    ]


def _extent(span: SourceSpan, number: int) -> tuple[int, int] | None:
    """The characters of one line that a span covers; None for a blank line in the middle of it."""
    text = source_line(span.file, number) or ""
    full = len(text.rstrip())
    indent = min(len(text) - len(text.lstrip()), full)
    start, end = indent, full
    if span.column is not None and number == span.line:
        start = min(span.column, len(text))
        end = start + 1 if span.end_column is None else full
    if span.column is not None and span.end_column is not None and number == span.last_line:
        end = min(span.end_column, len(text))
        start = start if number == span.line else min(start, end)
    if end <= start and span.line < number < span.last_line:
        return None
    return start, max(end, start + 1)
