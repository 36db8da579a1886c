"""Waits for the first import of a framework: a program that never makes one pays for nothing."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Collection, Sequence
from types import ModuleType


class FirstImport(importlib.abc.MetaPathFinder):
    """Calls `then` once, before the first of some modules is imported; at once where one of them is there."""

    def __init__(self, names: Collection[str], then: Callable[[], None]) -> None:
        self._names = frozenset(names)
        self._then = then

    def start(self) -> None:
        if self._names.isdisjoint(sys.modules):
            sys.meta_path.insert(0, self)
        else:
            self._then()

    def stop(self) -> None:
        """Wait no longer; safe to call twice."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._names or self not in sys.meta_path:
            return None
        self.stop()
        self._then()
        return importlib.util.find_spec(fullname)  # asks all finders again: one of them may be new
