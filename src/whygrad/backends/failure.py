"""The exception that ended a program, as neutral facts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from types import TracebackType

from whygrad.graph import Failure, Held, Operand
from whygrad.source import SourceSpan
from whygrad.source.operands import operands, without_body
from whygrad.source.position import CodeOwner, Position, file_owner, owner_of, span_of

HeldIn = Callable[[object], tuple[Held, ...] | None]


def describe_failure(error: BaseException, held_in: HeldIn | None = None) -> Failure | None:
    """None for an orderly exit. `held_in` says what a value is to the framework; None for what it does not know."""
    if isinstance(error, (SystemExit, KeyboardInterrupt)):
        return None
    owner = getattr(error, "obj", None)
    kind = owner if isinstance(owner, type) else type(owner)
    steps = list(_user_steps(error.__traceback__))
    return Failure(
        type_name=type(error).__name__,
        message=_message(error),
        where=_span_in_message(_message(error)) or (_span(steps[-1]) if steps else None),
        attribute=getattr(error, "name", None) if isinstance(error, AttributeError) else None,
        object_type=_name(kind) if isinstance(error, AttributeError) else None,
        object_bases=tuple(map(_name, kind.__mro__[1:-1])) if isinstance(error, AttributeError) else (),
        similar=_similar(owner, error) if isinstance(error, AttributeError) else None,
        called=_called_by_user(error.__traceback__),
        operands=() if held_in is None or not steps else tuple(_operands(steps, held_in)),
    )


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _similar(owner: object, error: AttributeError) -> str | None:
    wanted = _plain(str(error.name))
    return next((name for name in dir(owner) if name != error.name and _plain(name) == wanted), None)


def _plain(name: str) -> str:
    return name.replace("_", "").casefold().removesuffix("s")


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


def _user_steps(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        if owner_of(trace.tb_frame.f_code) is CodeOwner.USER:
            yield trace
        trace = trace.tb_next


def _span(step: TracebackType) -> SourceSpan:
    code = step.tb_frame.f_code
    return without_body(span_of(Position(code, step.tb_lasti, code.co_filename)))


def _operands(steps: list[TracebackType], held_in: HeldIn) -> Iterator[Operand]:
    """What the innermost expression was given; in a comprehension, also from the function around it."""
    frames = [step.tb_frame for step in reversed(steps)]
    nameless = itertools.takewhile(lambda frame: frame.f_code.co_name.startswith("<"), frames)
    frames = frames[: len(list(nameless)) + 1]
    for expression, value in operands(_span(steps[-1]), frames):
        held = held_in(value)
        if held is not None:
            yield Operand(expression=expression, held=held, is_list=isinstance(value, (list, tuple, dict)))


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
