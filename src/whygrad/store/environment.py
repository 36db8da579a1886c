"""Where a run ran: versions, command line, machine, commit. Imports none of the packages it names."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterable
from pathlib import Path


def environment(frameworks: Iterable[str] = ()) -> dict[str, object]:
    """What a reader needs to run it again; `frameworks` are the distributions they are installed by."""
    packages = ("whygrad", *frameworks, "numpy")
    return {
        "argv": list(sys.argv),
        "folder": os.getcwd(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "host": platform.node(),
        "pid": os.getpid(),
        "processors": os.cpu_count(),
        "packages": {name: version for name in packages if (version := _version(name)) is not None},
        "commit": git_commit(Path.cwd()),
    }


@functools.cache
def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def git_commit(folder: Path) -> str | None:
    """The commit that is checked out at or above a folder; None where there is none."""
    try:
        dot_git = next((place / ".git" for place in (folder, *folder.parents) if (place / ".git").exists()), None)
        return None if dot_git is None else _head(dot_git)
    except OSError:
        return None


def _head(dot_git: Path) -> str | None:
    # A worktree has a file that names the folder.
    git = dot_git if dot_git.is_dir() else dot_git.parent / dot_git.read_text().partition("gitdir:")[2].strip()
    head = (git / "HEAD").read_text().strip()
    if not head.startswith("ref:"):
        return head or None
    name = head.removeprefix("ref:").strip()
    shared = git / "commondir"
    for home in [git] if not shared.exists() else [git, git / shared.read_text().strip()]:
        if (home / name).exists():
            return (home / name).read_text().strip()
        packed = home / "packed-refs"
        lines = packed.read_text().splitlines() if packed.exists() else []
        commit = next((line.partition(" ")[0] for line in lines if line.partition(" ")[2] == name), None)
        if commit is not None:
            return commit
    return None
