"""What Python does when `__main__` has ended: print the exception, choose the exit status."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from whygrad.own_frames import hide_own_frames


@dataclass(frozen=True, slots=True)
class Ending:
    """How the script ended: `status` as for `sys.exit`; `crash` is what it did not catch."""

    status: int = 0
    crash: Exception | None = None
    interrupted: bool = False  # by Ctrl-C: Python then ends by the signal itself
    started: bool = True  # False: it was not a program that can be run


def conclude(error: BaseException) -> Ending:
    """Print what ended the script as Python would, and say with which status it ends."""
    hide_own_frames(error)
    if isinstance(error, SystemExit):
        return Ending(_exit_status(error))
    crash = error if isinstance(error, Exception) else None
    try:
        _show(error)
    except SystemExit as raised:  # from the script's own sys.excepthook
        return Ending(_exit_status(raised), crash)
    return Ending(1, crash, interrupted=type(error) is KeyboardInterrupt)


def _show(error: BaseException) -> None:
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    hook = getattr(sys, "excepthook", None)
    if hook is None:
        sys.stderr.write("sys.excepthook is missing\n")
        hook = sys.__excepthook__
    try:
        hook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as second:
        hide_own_frames(second)
        sys.stderr.write("Error in sys.excepthook:\n")
        sys.__excepthook__(type(second), second, second.__traceback__)
        sys.stderr.write("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, error.__traceback__)


def _exit_status(error: SystemExit) -> int:
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    _print_words(code)
    return 1


def _print_words(words: object) -> None:
    """Print what `sys.exit` was given; what has no text is an empty line."""
    stream = getattr(sys, "stderr", None) or sys.__stderr__
    for text in (words, "\n"):
        try:
            stream.write(str(text))  # type: ignore[union-attr]
        except Exception:  # Python says nothing of it either
            pass
