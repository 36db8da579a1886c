"""Places as the recorder keeps them, and the spans they stand for."""

from __future__ import annotations

from typing import Any

from whygrad.source import SourceSpan
from whygrad.source.position import Position, span_of


def span(place: Any) -> SourceSpan | None:
    """The span of a place; a traced place may be a span already."""
    return span_of(place) if isinstance(place, Position) else place
