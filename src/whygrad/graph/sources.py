"""The texts of the user's files that a recording speaks of, kept in it so that it can be explained anywhere."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from whygrad.graph.node import Op, Tensor
from whygrad.graph.recording import Recording
from whygrad.source import SourceSpan, file_text
from whygrad.source.text import cells_around, is_cell

MAX_TEXT = 2**20  # characters of one file; a longer one keeps the lines that spans cover, the others are blank


def with_sources(recording: Recording) -> Recording:
    """The recording with the text of every file that a span of it lies in; empty where the source is gone."""
    spans, written = set(spans_in(recording)), set(spans_in(recording.ledger))
    return replace(
        recording,
        sources={**recording.sources, **texts_at(spans)},
        ledger=replace(recording.ledger, sources=texts_at(written, whole=False)),
    )


def texts_at(spans: Iterable[SourceSpan], *, whole: bool = True) -> dict[str, str]:
    """The text of each file; not `whole`: with the lines that the spans cover alone.

    A notebook is whole with all of its cells, in their order: they use one another's names.
    """
    covered: dict[str, set[int]] = defaultdict(set)
    for span in sorted(spans):
        covered[span.file].update(range(span.line, span.last_line + 1))
    texts = {file: file_text(file) for file in covered}
    cell = next(filter(is_cell, covered), None) if whole else None
    if cell is not None:
        texts = dict(cells_around(cell)) | texts
    return {
        file: text if whole and len(text) <= MAX_TEXT else _only(text, covered[file]) for file, text in texts.items()
    }


def _only(text: str, lines: set[int]) -> str:
    last = max(lines, default=0)
    return "\n".join(line if n in lines else "" for n, line in enumerate(text.split("\n")[:last], 1))


def spans_in(value: object) -> Iterator[SourceSpan]:
    """Every span in a tree of frozen data, whatever the data is."""
    if isinstance(value, SourceSpan):
        yield value
    elif isinstance(value, (Op, Tensor)):  # there are a great many, and what they hold is known
        where = getattr(value, "where", None)
        if where is not None:
            yield where
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from spans_in(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from spans_in(item)
    elif isinstance(value, tuple | frozenset) and value and not isinstance(next(iter(value)), int | float | str):
        for item in value:
            yield from spans_in(item)
