"""The `whygrad` command: one file per command, imported when it is asked for."""

from __future__ import annotations

import sys


def main() -> int:
    """The exit status of the command line in `sys.argv`; `whygrad run` may end by KeyboardInterrupt, as Python does."""
    from whygrad.cli.commands import parse

    todo = parse(sys.argv[1:])
    return todo if isinstance(todo, int) else todo()


__all__ = ["main"]
