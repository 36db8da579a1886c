"""What can be wrong with a run file or its name. Each message names the file."""

from __future__ import annotations

from whygrad.errors import UsageError


class RunNotFoundError(UsageError):
    """No run, or more than one, goes by the given name."""


class RunUnreadableError(UsageError):
    """A run file is damaged, of a newer version, or no run file at all."""
