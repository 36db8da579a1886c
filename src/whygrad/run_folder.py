"""Where runs and kept steps go: `.whygrad`, or where `WHYGRAD_DIR` says."""

from __future__ import annotations

import os
from pathlib import Path


def run_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The given folder, or the usual one."""
    return Path(folder or os.environ.get("WHYGRAD_DIR") or ".whygrad")
