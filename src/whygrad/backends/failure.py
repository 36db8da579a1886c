"""The exception that ended a program, as neutral facts."""

from __future__ import annotations

import re
from types import TracebackType

from whygrad.graph import Failure
from whygrad.source import SourceSpan
from whygrad.source.position import CodeOwner, Position, file_owner, owner_of, span_of


def describe_failure(error: BaseException) -> Failure | None:
    """None for an orderly exit."""
    if isinstance(error, (SystemExit, KeyboardInterrupt)):
        return None
    owner = getattr(error, "obj", None)
    kind = owner if isinstance(owner, type) else type(owner)
    return Failure(
        type_name=type(error).__name__,
        message=_message(error),
        where=_span_in_message(_message(error)) or _innermost_user_span(error.__traceback__),
        attribute=getattr(error, "name", None) if isinstance(error, AttributeError) else None,
        object_type=_name(kind) if isinstance(error, AttributeError) else None,
        object_bases=tuple(map(_name, kind.__mro__[1:-1])) if isinstance(error, AttributeError) else (),
        called=_called_by_user(error.__traceback__),
    )


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _message(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:  # an exception may not be printable
        return type(error).__name__


def _span_in_message(message: str) -> SourceSpan | None:
    """A converted function's error names the user's lines in its text; the traceback has generated ones."""
    if "in user code:" not in message:
        return None
    found = re.findall(r'File "([^"]+)", line (\d+)', message)
    own = [SourceSpan(file, int(line)) for file, line in found if file_owner(file) is CodeOwner.USER]
    return own[-1] if own else None


def _innermost_user_span(trace: TracebackType | None) -> SourceSpan | None:
    found: SourceSpan | None = None
    while trace is not None:
        code = trace.tb_frame.f_code
        if owner_of(code) is CodeOwner.USER:
            found = span_of(Position(code, trace.tb_lasti, code.co_filename))
        trace = trace.tb_next
    return found


def _called_by_user(trace: TracebackType | None) -> str | None:
    """What the innermost expression of user code called, hooks of ours apart; None where it raised by itself."""
    called: str | None = None
    after_user = False
    while trace is not None:
        frame = trace.tb_frame
        if owner_of(frame.f_code) is CodeOwner.USER:
            called, after_user = None, True
        elif after_user and not str(frame.f_globals.get("__name__")).startswith("whygrad."):
            called, after_user = f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}", False
        trace = trace.tb_next
    return called
