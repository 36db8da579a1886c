"""The exception that ended a program, as neutral facts."""

from __future__ import annotations

import traceback
from types import TracebackType

from whygrad.capture.position import CodeOwner, Position, owner_of, span_of
from whygrad.graph import Failure
from whygrad.source import SourceSpan


def describe_failure(error: BaseException) -> Failure | None:
    """None for an orderly exit."""
    if isinstance(error, (SystemExit, KeyboardInterrupt)):
        return None
    owner = getattr(error, "obj", None)
    kind = owner if isinstance(owner, type) else type(owner)
    return Failure(
        type_name=type(error).__name__,
        message=str(error) or "".join(traceback.format_exception_only(error)).strip(),
        where=_innermost_user_span(error.__traceback__),
        attribute=getattr(error, "name", None) if isinstance(error, AttributeError) else None,
        object_type=f"{kind.__module__}.{kind.__qualname__}" if isinstance(error, AttributeError) else None,
    )


def _innermost_user_span(trace: TracebackType | None) -> SourceSpan | None:
    found: SourceSpan | None = None
    while trace is not None:
        code = trace.tb_frame.f_code
        if owner_of(code) is CodeOwner.USER:
            found = span_of(Position(code, trace.tb_lasti))
        trace = trace.tb_next
    return found
