"""Exceptions a user may catch. Each message is one sentence that names the user's own thing."""

from __future__ import annotations

from collections.abc import Iterable


class WhygradError(Exception):
    """The root of everything whygrad raises on purpose."""

    def __init__(self, message: str, *, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = help

    def __str__(self) -> str:
        return self.message if self.help is None else f"{self.message}\nhelp: {self.help}"


class UsageError(WhygradError):
    """whygrad was asked for something it cannot do: a wrong option, file, rule name or argument."""


class NotCallableError(UsageError, TypeError):
    """`explain` was given what a step returned, not the step."""


class UnknownNameError(UsageError, KeyError):
    """A table has no row or column of this name."""

    def __init__(self, name: object, known: Iterable[str], what: str) -> None:
        names = [f"`{each}`" for each in known]
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        super().__init__(f"there is no {what} {name!r}", help=f"known: {shown}" if names else "it is empty")


class GradientError(WhygradError):
    """A run that was told to stop at the first certain finding has stopped; `diagnostic` is the finding."""

    ag_pass_through = True  # AutoGraph leaves it as it is instead of raising an error of its own type

    def __init__(self, message: str, diagnostic: object = None) -> None:
        super().__init__(message)
        self.diagnostic = diagnostic


class MissingGradientError(WhygradError, AssertionError):
    """An assertion of `whygrad.testing` found a variable without a gradient."""


class WrongGradientError(WhygradError, AssertionError):
    """An assertion of `whygrad.testing` found a gradient that differs from what the function's values say."""


class AccumulationError(WhygradError, ValueError):
    """A micro-batch, a window or an optimizer that cannot be accumulated as asked. Nothing was changed."""

    ag_pass_through = True  # AutoGraph leaves it as it is instead of raising an error of its own type


class VariableDriftError(AccumulationError):
    """The variables of this micro-batch are not those of the window it was added to."""


class MicrobatchWeightError(AccumulationError):
    """The weight of a micro-batch is missing, or is not a positive, finite number."""


class EmptyWindowError(AccumulationError):
    """An update was asked for before any micro-batch was added."""


class AccumulationWarning(UserWarning):
    """The accumulated update may differ from the big batch's, or something was left out; the text says what."""


class NonfiniteError(WhygradError, ArithmeticError):
    """A guard or a transaction stopped at a value that is not finite; nothing of the step was kept."""

    ag_pass_through = True
