"""What is wrong with a command, said on stderr."""

from __future__ import annotations

import sys
from typing import Final

from whygrad.errors import UsageError

WRONG_USAGE: Final = 2


def complain(error: UsageError) -> int:
    """Say what is wrong with the command line; the exit status for it."""
    from whygrad.report.cells import visible

    text = "\n".join(visible(line) for line in str(error).split("\n"))  # it may name what a file from elsewhere holds
    print(f"whygrad: error: {text}", file=sys.stderr)
    return WRONG_USAGE
