"""What Python would run as `__main__`: a script, a zip archive or a module, found and compiled."""

from __future__ import annotations

import os
import pkgutil
import runpy
import types
import zipimport
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec, SourceFileLoader

from whygrad.errors import UsageError


@dataclass(frozen=True, slots=True)
class Invocation:
    """`python TARGET ARGS...`, or `python -m TARGET ARGS...`."""

    target: str
    args: tuple[str, ...] = ()
    is_module: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """Code, and the attributes that Python gives the module it runs in."""

    code: types.CodeType
    attributes: Mapping[str, object]
    argv0: str

    @property
    def is_script(self) -> bool:
        """Whether it is a file of its own, neither a module nor an archive."""
        return self.attributes["__spec__"] is None


def load(invocation: Invocation) -> Program:
    """Find and compile; a UsageError or SyntaxError where Python could not start it.

    A module's parent packages are imported: that is user code already, which may raise anything.
    """
    if invocation.is_module:
        return _from_spec(_details("_get_module_details", invocation.target))
    path = invocation.target
    if os.path.isdir(path):
        raise UsageError(f"`{path}` is a directory, not a script", help="name a file in it, or use -m")
    if is_archive(path):
        return replace(_from_spec(_details("_get_main_module_details")), argv0=path)
    return _script(path)


def absolute(path: str) -> str:
    """The path as Python completes it: not normalized, so that `./a/../b.py` is still seen in it."""
    return os.path.join(os.getcwd(), path)


def is_archive(path: str) -> bool:
    """Whether Python would run the `__main__.py` in this zip file."""
    return isinstance(pkgutil.get_importer(path), zipimport.zipimporter)


def _script(path: str) -> Program:
    file = absolute(path)
    loader = SourceFileLoader("__main__", file)
    attributes = {
        "__loader__": loader,
        "__file__": file,
        "__cached__": None,
        "__package__": None,
        "__spec__": None,
    }
    try:
        source = loader.get_data(file)
    except FileNotFoundError:
        raise UsageError(f"script `{path}` not found") from None
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}") from None
    try:
        return Program(compile(source, file, "exec", dont_inherit=True), attributes, path)
    except ValueError as error:
        raise UsageError(f"`{path}` is not a Python script: {error}") from None


def _details(function: str, *arguments: str) -> tuple[str, ModuleSpec, types.CodeType]:
    # runpy's public functions take `__main__` away when the code has ended, which breaks threads and atexit handlers;
    # these are what `python -m` itself calls.
    details: tuple[str, ModuleSpec, types.CodeType] = getattr(runpy, function)(*arguments, UsageError)
    return details


def _from_spec(details: tuple[str, ModuleSpec, types.CodeType]) -> Program:
    _, spec, code = details
    attributes = {
        "__loader__": spec.loader,
        "__file__": spec.origin,
        "__cached__": spec.cached,
        "__package__": spec.parent,
        "__spec__": spec,
    }
    return Program(code, attributes, str(spec.origin))
