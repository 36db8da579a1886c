"""Exceptions a user may catch. Each message is one sentence that names the user's own thing."""

from __future__ import annotations


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


class NoBackendError(WhygradError):
    """No framework that whygrad knows is installed, or none owns the given object."""


class MissingGradientError(WhygradError, AssertionError):
    """An assertion of `whygrad.testing` found a variable without a gradient."""
