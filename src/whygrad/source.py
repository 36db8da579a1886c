"""A stretch of the user's own code, and how to read it back."""

from __future__ import annotations

import functools
import linecache
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class SourceSpan:
    """Lines are 1-based; columns are 0-based character offsets. Column `None`: only the line is known."""

    file: str
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None

    @property
    def last_line(self) -> int:
        return self.line if self.end_line is None else self.end_line

    def contains_line(self, line: int) -> bool:
        return self.line <= line <= self.last_line


@functools.lru_cache(maxsize=256)
def source_lines(file: str) -> tuple[str, ...]:
    """The lines of a file or notebook cell, without line ends; empty where the source is gone."""
    return tuple(line.rstrip("\r\n") for line in linecache.getlines(file))


def source_line(file: str, line: int) -> str | None:
    """One line of source, or None where it cannot be had."""
    lines = source_lines(file)
    return lines[line - 1] if 1 <= line <= len(lines) else None


def source_text(span: SourceSpan) -> str | None:
    """The source a span covers, on one line, or None where it cannot be had."""
    first = source_line(span.file, span.line)
    if first is None:
        return None
    if span.column is None or span.end_column is None:
        return first.strip()
    if span.last_line == span.line:
        return first[span.column : span.end_column]
    lines = [source_line(span.file, number) or "" for number in range(span.line, span.last_line + 1)]
    lines[0], lines[-1] = lines[0][span.column :], lines[-1][: span.end_column]
    return " ".join(line.strip() for line in lines)
