"""Where a run ran: versions, command line, machine, commit. Imports none of the packages it names."""

from __future__ import annotations

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


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def git_commit(folder: Path) -> str | None:
    """The commit that is checked out at or above a folder; None where there is none."""
    try:
        for place in (folder, *folder.parents):
            dot_git = place / ".git"
            if dot_git.exists():
                return _head(_git_folder(dot_git))
    except OSError:
        return None
    return None


def _git_folder(dot_git: Path) -> Path:
    """A worktree has a file that names the folder."""
    if dot_git.is_dir():
        return dot_git
    target = Path(dot_git.read_text().partition("gitdir:")[2].strip())
    return target if target.is_absolute() else dot_git.parent / target


def _head(git: Path) -> str | None:
    head = (git / "HEAD").read_text().strip()
    if not head.startswith("ref:"):
        return head or None
    name = head.removeprefix("ref:").strip()
    shared = git / "commondir"
    homes = [git] if not shared.exists() else [git, git / shared.read_text().strip()]
    for home in homes:
        if (home / name).exists():
            return (home / name).read_text().strip()
        packed = home / "packed-refs"
        if packed.exists():
            for line in packed.read_text().splitlines():
                commit, _, ref = line.partition(" ")
                if ref == name:
                    return commit
    return None
