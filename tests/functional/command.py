"""The `whygrad` command and plain Python, run in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# What a developer's or a CI's environment may say about colours must not decide a test.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")} | {
    "TERM": "xterm"
}


@dataclass(frozen=True)
class Done:
    """What a process left; `status` is negative where a signal ended it."""

    status: int
    out: str
    err: str


def run(command: Sequence[str], folder: Path, stdin: str = "", *, merged: bool = False) -> Done:
    done = subprocess.run(
        command,
        cwd=folder,
        env=ENVIRONMENT,
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merged else subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="backslashreplace",
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr or "")


def whygrad(folder: Path, *words: str, stdin: str = "") -> Done:
    return run([sys.executable, "-m", "whygrad", *words], folder, stdin)
