"""Functions that are there already, run from another text: their code is replaced for a while, their closures stay."""

from __future__ import annotations

import contextlib
import gc
import sys
import types
from collections.abc import Iterator

from whygrad.errors import UsageError
from whygrad.trial.overlay import Overlay, compile_text, shown_as


@contextlib.contextmanager
def replaced_code(overlay: Overlay) -> Iterator[None]:
    """Inside the block all functions of these files are those of the new texts; a `UsageError` where that cannot be."""
    new = {file: dict(_codes(compile_text(text, file))) for file, text in overlay.items()}
    live = {id(each): each for each in _functions() if each.__code__.co_filename in new}
    before = list[tuple[types.FunctionType, types.CodeType]]()
    try:
        for function in live.values():
            code = new[function.__code__.co_filename].get(function.__code__.co_qualname)
            if code is not None:
                _replace(function, code, before)
        with shown_as(overlay):
            yield
    finally:
        for function, old in before:
            function.__code__ = old


def _replace(
    function: types.FunctionType, code: types.CodeType, before: list[tuple[types.FunctionType, types.CodeType]]
) -> None:
    if len(code.co_freevars) != len(function.__code__.co_freevars):
        raise UsageError(f"`{function.__qualname__}` would need other names of the functions around it")
    before.append((function, function.__code__))
    function.__code__ = code


def _functions() -> Iterator[types.FunctionType]:
    """All functions that are there; those that the collector was told to leave alone are found in their modules."""
    yield from (each for each in gc.get_objects() if isinstance(each, types.FunctionType))
    for module in list(sys.modules.values()):
        held = list(vars(module).values()) if isinstance(module, types.ModuleType) else []
        held += [each for kind in held if isinstance(kind, type) for each in vars(kind).values()]
        yield from (each for each in held if isinstance(each, types.FunctionType))


def _codes(code: types.CodeType) -> Iterator[tuple[str, types.CodeType]]:
    """All functions in a module's code, by their qualified names; of several alike the last."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant.co_qualname, constant
            yield from _codes(constant)
