"""Places as the log keeps them, and the spans they stand for."""

from __future__ import annotations

from whygrad.source import SourceSpan
from whygrad.source.position import Position, span_of

Place = Position | SourceSpan | None  # a traced place may be a span already


def span(place: Place) -> SourceSpan | None:
    """The span of a place."""
    return span_of(place) if isinstance(place, Position) else place
