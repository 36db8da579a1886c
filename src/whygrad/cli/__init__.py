"""The `whygrad` command: one file per command, imported when it is asked for."""

from __future__ import annotations

import sys


def main() -> int:
    """The exit status of the command line in `sys.argv`; `whygrad run` may end by KeyboardInterrupt, as Python does."""
    if not sys.flags.safe_path:
        # The folder of this command, or with `python -m whygrad` the working folder: neither is ours to import from.
        del sys.path[0]
    from whygrad.cli.commands import parse

    todo = parse(sys.argv[1:])
    return todo if isinstance(todo, int) else todo()


__all__ = ["main"]
