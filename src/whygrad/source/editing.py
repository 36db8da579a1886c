"""Edits of a text: pure, by character positions, with line ends, comments and all else as they were."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from whygrad.source.text import SourceSpan

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")  # as Python's universal line ends


class EditError(ValueError):
    """Edits that cannot be made together, or not in this text."""


@dataclass(frozen=True, slots=True)
class FileText:
    """A file of source as it is: its text with its own line ends, and how it is encoded."""

    text: str
    encoding: str = "utf-8"

    @property
    def data(self) -> bytes:
        return self.text.encode(self.encoding)

    def matches(self, recorded: str) -> bool:
        """Whether this is the text that a recording has, whose line ends are all alike."""
        return "\n".join(line.rstrip("\r\n") for line in _lines(self.text)) == recorded


def read_source(file: str) -> FileText:
    """A file with the encoding that it declares; OSError, SyntaxError or UnicodeError where it cannot be had."""
    data = Path(file).read_bytes()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return FileText(data.decode(encoding), encoding)


def edited(text: str, edits: Iterable[tuple[SourceSpan, str]]) -> str:
    """The text after all edits, whose places are those of the text before; an `EditError` where two overlap.

    A new line ends as most lines of the text do. Insertions at one place keep their order.
    """
    starts = _starts(text)
    placed = sorted(((*_range(starts, span), new) for span, new in edits), key=lambda each: each[:2])
    end_of_line = _line_end(text)
    pieces, position = list[str](), 0
    for start, end, new in placed:
        if start < position:
            raise EditError("two edits of a fix overlap")
        pieces += (text[position:start], new.replace("\n", end_of_line))
        position = end
    return "".join([*pieces, text[position:]])


def _lines(text: str) -> Iterator[str]:
    return (match[0] for match in _LINE.finditer(text))


def _starts(text: str) -> list[int]:
    """Where each line begins, and where the text ends."""
    found = [0]
    for line in _lines(text):
        found.append(found[-1] + len(line))
    return found


def _range(starts: list[int], span: SourceSpan) -> tuple[int, int]:
    if span.column is None or span.end_column is None:
        raise EditError("an edit needs the columns of its place")
    start, end = _offset(starts, span.line, span.column), _offset(starts, span.last_line, span.end_column)
    if end < start:
        raise EditError("an edit ends before it begins")
    return start, end


def _offset(starts: list[int], line: int, column: int) -> int:
    """The line after the last one is the end of the text."""
    if not 1 <= line <= len(starts):
        raise EditError(f"an edit lies at line {line} of a text that has {len(starts) - 1}")
    offset = starts[line - 1] + column
    limit = starts[line] if line < len(starts) else starts[-1]
    if offset > limit:
        raise EditError(f"an edit lies behind the end of line {line}")
    return offset


def _line_end(text: str) -> str:
    ends = Counter(re.findall(r"\r\n|\r|\n", text))
    return ends.most_common(1)[0][0] if ends else "\n"
