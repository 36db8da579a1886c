"""Which files are checked: those that are named, and the Python files and notebooks of folders that are named."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from whygrad.errors import UsageError
from whygrad.lint.files.ignored import is_ignored

SUFFIXES: Final = (".py", ".pyi", ".ipynb")
_SKIPPED: Final = frozenset(
    (".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", ".mypy_cache", ".ipynb_checkpoints")
)


def find_files(paths: Sequence[str], exclude: Sequence[str] = (), *, respect_gitignore: bool = True) -> list[Path]:
    """Each file once, in the order of names; a path that is not there is a UsageError."""
    found: dict[Path, None] = {}
    for text in paths or (".",):
        path = Path(os.path.abspath(text))
        if path.is_file():
            found[path] = None
        elif path.is_dir():
            for file in _below(path, exclude, respect_gitignore):
                found[file] = None
        else:
            raise UsageError(f"there is no `{text}`", help="name files or folders")
    return list(found)


def _below(folder: Path, exclude: Sequence[str], respect_gitignore: bool) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = Path(entry.path)
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and (entry.name in _SKIPPED or (path / "pyvenv.cfg").exists()):
            continue
        if not is_folder and not entry.name.endswith(SUFFIXES):
            continue
        if is_excluded(path, exclude) or (respect_gitignore and is_ignored(path, is_folder=is_folder)):
            continue
        if is_folder:
            yield from _below(path, exclude, respect_gitignore)
        elif entry.is_file():
            yield path


def is_excluded(path: Path, patterns: Sequence[str]) -> bool:
    """Whether a path, or a part of it, fits one of some patterns of names."""
    whole = path.as_posix()
    return any(
        fnmatch(whole, pattern) or fnmatch(whole, f"*/{pattern}") or fnmatch(path.name, pattern) for pattern in patterns
    )
