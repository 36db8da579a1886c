"""Other files of the project: what their names stand for, followed once for each file that is checked."""

from __future__ import annotations

import ast
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from whygrad.lint.values.value import Scope
from whygrad.source.module import Module

_MOST: Final = 6  # files that one file brings in, directly or through others
_LARGEST: Final = 200_000  # bytes
FILE: Final = "whygrad_file"  # the attribute of a node that says which other file it is of

Follow = Callable[[ast.Module, "Imports"], Scope]


class Imports:
    """What a file may import from its own project."""

    def __init__(self, file: str, mentions: tuple[str, ...], follow: Follow) -> None:
        self._file = Path(file)
        self._mentions = mentions
        self._follow = follow
        self.read: dict[str, Scope | None] = {}  # by path; None: nothing was learned from it

    def scope(self, module: str | None, level: int, importer: ast.AST) -> Scope | None:
        """The names of a module of the project; None where it is not of the project, or not worth following."""
        home = Path(getattr(importer, FILE, self._file))
        path = _path(home, module, level)
        if path is None or path == self._file:
            return None
        key = str(path)
        if key not in self.read:
            if len(self.read) >= _MOST:
                return None
            self.read[key] = None  # it may import itself
            self.read[key] = self._scope_of(path)
        return self.read[key]

    def _scope_of(self, path: Path) -> Scope | None:
        try:
            found = path.stat()
            tree = _tree(str(path), found.st_mtime_ns, found.st_size, self._mentions)
        except OSError:
            return None
        return None if tree is None else self._follow(tree, self)


@functools.lru_cache(maxsize=512)
def _tree(path: str, changed: int, size: int, mentions: tuple[str, ...]) -> ast.Module | None:
    """The parsed file, each node marked with it; None where there is nothing to learn from it."""
    try:
        text = Path(path).read_bytes().decode() if size <= _LARGEST else ""
        if not any(word in text for word in mentions):
            return None
        tree = Module(path, text.replace("\r\n", "\n")).tree
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.stmt, ast.arg)):
            setattr(node, FILE, path)
    return tree


@functools.lru_cache(maxsize=4096)
def _path(home: Path, module: str | None, level: int) -> Path | None:
    """The file of a module, as it is imported from a file; only files that lie beside or below a package's root."""
    parts = module.split(".") if module else []
    if level:
        folders = [home.parent.joinpath(*[os.pardir] * (level - 1))]
    else:
        root = home.parent
        while (root / "__init__.py").exists() and root.parent != root:
            root = root.parent
        folders = list(dict.fromkeys((root, home.parent)))
    for folder in folders:
        found = Path(os.path.abspath(folder.joinpath(*parts)))
        for path in (found.with_name(f"{found.name}.py"), found / "__init__.py"):
            if parts and path.is_file():
                return path
    return None
