"""Which expression of the user's own code is running."""

from __future__ import annotations

import functools
import os
import sysconfig
from enum import IntEnum
from types import CodeType, FrameType
from typing import NamedTuple

from whygrad.source.text import SourceSpan, characters, is_cell, source_line


class CodeOwner(IntEnum):
    MACHINERY = 0  # a framework, the standard library, or whygrad
    LIBRARY = 1  # something else that was installed
    USER = 2


class Position(NamedTuple):
    """A frozen place in running code; cheap to take, resolved to a span only when it is shown."""

    code: CodeType
    instruction: int
    file: str  # equal functions of two files have equal code objects


_STDLIB = tuple({os.path.realpath(sysconfig.get_path(key)) for key in ("stdlib", "platstdlib")})
_OURSELVES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# NumPy, and the tools that run programs; a backend adds its framework.
_machinery = {"numpy", "ipykernel", "IPython", "_pytest", "pluggy", "xdist", "click"}
_owners: dict[str, CodeOwner] = {}


def add_machinery(*packages: str) -> None:
    """Say that installed packages of these names are a framework, not libraries that people build on one."""
    _machinery.update(packages)
    _owners.clear()


def owner_of(code: CodeType) -> CodeOwner:
    """Whose code this is."""
    return file_owner(code.co_filename)


def file_owner(file: str) -> CodeOwner:
    """Whose file this is; remembered."""
    owner = _owners.get(file)
    if owner is None:
        owner = _owners[file] = _decide_owner(file)
    return owner


def _decide_owner(file: str) -> CodeOwner:
    if file.startswith("<") and not file.startswith("<ipython"):
        return CodeOwner.USER if file in ("<string>", "<stdin>") else CodeOwner.MACHINERY
    path = file if "\0" in file else os.path.realpath(file)
    if path.startswith(_OURSELVES + os.sep):
        return CodeOwner.MACHINERY
    parts = path.split(os.sep)
    for index, part in enumerate(parts):
        if part in ("site-packages", "dist-packages") and index + 1 < len(parts):
            package = parts[index + 1].removesuffix(".py")
            return CodeOwner.MACHINERY if package in _machinery else CodeOwner.LIBRARY
    if path.startswith(tuple(root + os.sep for root in _STDLIB)) or file.startswith("<frozen"):
        return CodeOwner.MACHINERY
    return CodeOwner.USER


def is_module(code: CodeType) -> bool:
    """Whether code is a file's own, or that of a statement in a notebook cell; some kernels name it by its line."""
    return code.co_name == "<module>" or code.co_name.startswith("<cell")


def in_one_scope(one: CodeType, other: CodeType) -> bool:
    """Whether two pieces of code are one function's, or one module's own.

    All cells of a notebook are one module, though each of their statements has a code of its own.
    """
    return one is other or (
        is_module(one) and is_module(other) and is_cell(one.co_filename) and is_cell(other.co_filename)
    )


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the user's own code; of an installed library where there is none."""
    library: FrameType | None = None
    owners = _owners
    while frame is not None:
        file = frame.f_code.co_filename
        owner = owners.get(file)
        if owner is None:
            owner = file_owner(file)
        if owner == 2:
            return frame
        if owner == 1 and library is None:
            library = frame
        frame = frame.f_back
    return library


def user_frames_around(frame: FrameType | None, most: int = 8) -> list[FrameType]:
    """The user's frames that called a frame, innermost first; after them, those of libraries around all of these.

    They end with a module's own code, which has none around it that is worth knowing.
    """
    found: list[FrameType] = []
    library: list[FrameType] = []
    if frame is None or is_module(frame.f_code):
        return found
    owners, outer = _owners, frame.f_back
    while outer is not None and len(found) < most:
        code = outer.f_code
        owner = owners.get(code.co_filename)
        if owner is None:
            owner = file_owner(code.co_filename)
        if owner == 2:
            found.append(outer)
            if code.co_name[:1] == "<" and is_module(code):  # asked for each op: most are functions with a name
                return found
            library.clear()
        elif owner == 1:
            library.append(outer)
        outer = outer.f_back
    return found + library[: most - len(found)]


def position_in(frame: FrameType) -> Position:
    """Where a frame is now."""
    code = frame.f_code
    return Position(code, frame.f_lasti, code.co_filename)


@functools.lru_cache(maxsize=1024)
def _positions(code: CodeType) -> tuple[tuple[int | None, int | None, int | None, int | None], ...]:
    return tuple(code.co_positions())


@functools.lru_cache(maxsize=16384)
def span_of(position: Position) -> SourceSpan:
    """Line and columns of the expression at a position."""
    code, instruction, _ = position
    table = _positions(code)
    index = instruction // 2
    line, end_line, column, end_column = table[index] if 0 <= index < len(table) else (None,) * 4
    if line is None:
        return SourceSpan(code.co_filename, code.co_firstlineno)
    if column is None or end_column is None or end_line is None:
        return SourceSpan(code.co_filename, line)
    file = code.co_filename
    start, end = characters(source_line(file, line), column), characters(source_line(file, end_line), end_column)
    return SourceSpan(file, line, start, end_line, end)
