"""A program under whygrad, in this process: call it in a fork."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

from .seen import WELL


def diagnose(script: str) -> dict[str, Any]:
    """Its diagnostics, as in the JSON report, and how it ended."""
    from whygrad.report import render
    from whygrad.watch import watch

    sys.argv = [script]
    sys.path.insert(0, str(Path(script).parent))
    names: dict[str, Any] = {}  # of the program; they live until the report is made, as in `whygrad run`
    ended = WELL
    with watch() as run:
        try:
            names |= runpy.run_path(script, run_name="__main__")
        except BaseException as error:
            ended = type(error).__name__
            run.failed(error)
    return {"ended": ended, "diagnostics": json.loads(render(run.report(), "json"))["diagnostics"]}
