"""What Python would run as `__main__`: a script, a zip archive or a module, found, compiled, and run as Python does."""

from __future__ import annotations

import builtins
import contextlib
import linecache
import os
import pkgutil
import runpy
import sys
import threading
import traceback
import types
import zipimport
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.machinery import BuiltinImporter, ModuleSpec, SourceFileLoader

import whygrad
from whygrad.cli.output import flush_script_output
from whygrad.errors import UsageError


@dataclass(frozen=True, slots=True)
class Invocation:
    """`python TARGET ARGS...`, `python -m TARGET ARGS...`, `python -c CODE ARGS...` or `python - ARGS...`."""

    target: str  # `-c` and `-` where there is no file
    args: tuple[str, ...] = ()
    is_module: bool = False
    code: str | None = None

    @property
    def is_file(self) -> bool:
        return self.code is None and self.target != "-" and not self.is_module


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
        return _found("_get_module_details", invocation.target)
    path = invocation.target
    if invocation.code is not None:
        return _text(invocation.code, "<string>", path)
    if path == "-":
        return _text(sys.stdin.read(), "<stdin>", path)
    if os.path.isdir(path):
        raise UsageError(f"`{path}` is a directory, not a script", help="name a file in it, or use -m")
    if _is_archive(path):
        return replace(_found("_get_main_module_details"), argv0=path)
    return _script(path)


def _absolute(path: str) -> str:
    """The path as Python completes it: not normalized, so that `./a/../b.py` is still seen in it."""
    return os.path.join(os.getcwd(), path)


def _is_archive(path: str) -> bool:
    """Whether Python would run the `__main__.py` in this zip file."""
    return isinstance(pkgutil.get_importer(path), zipimport.zipimporter)


def _script(path: str) -> Program:
    file = _absolute(path)
    loader = SourceFileLoader("__main__", file)
    attributes = {"__loader__": loader, "__file__": file, "__cached__": None, "__package__": None, "__spec__": None}
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


def _text(code: str, name: str, argv0: str) -> Program:
    """Code without a file; its lines are kept where excerpts and tracebacks look for them."""
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    attributes = {"__loader__": BuiltinImporter, "__package__": None, "__spec__": None}
    return Program(compile(code, name, "exec", dont_inherit=True), attributes, argv0)


def _found(function: str, *arguments: str) -> Program:
    # runpy's public functions take `__main__` away when the code has ended, which breaks threads and atexit handlers;
    # these are what `python -m` itself calls.
    details: tuple[str, ModuleSpec, types.CodeType] = getattr(runpy, function)(*arguments, UsageError)
    _, spec, code = details
    attributes = {
        "__loader__": spec.loader,
        "__file__": spec.origin,
        "__cached__": spec.cached,
        "__package__": spec.parent,
        "__spec__": spec,
    }
    return Program(code, attributes, str(spec.origin))


def set_stage(invocation: Invocation) -> None:
    """`sys.argv`, `sys.orig_argv`, `sys.path` and an empty `__main__`, as they are when Python begins."""
    shown = "-m" if invocation.is_module else invocation.target
    sys.orig_argv = [*_interpreter(), *_as_typed(invocation)]
    sys.argv = [shown, *invocation.args]
    if not sys.flags.safe_path:
        sys.path.insert(0, _first_path(invocation))
    sys.modules["__main__"] = _empty_main()
    # pytest, run as the script, warns of packages with a plugin that were imported before it, unless they say this.
    whygrad.__doc__ = f"{whygrad.__doc__}\n\nPYTEST_DONT_REWRITE"


def run_as_main(program: Program) -> BaseException | None:
    """Run to the end; the exception that ended it, if one did."""
    module = sys.modules["__main__"]
    module.__dict__.update(program.attributes)
    sys.argv[0] = program.argv0
    try:
        exec(program.code, module.__dict__)
    except BaseException as error:
        return error
    finally:
        if program.is_script:  # Python does so before it prints what ended a script, but not for a module
            flush_script_output()
    return None


def wait_for_threads() -> None:
    """Wait for the script's threads as Python does before it ends, so that what they did is in the report."""
    try:
        # It also tells idle pools to end; joining `threading.enumerate()` would wait for those for ever.
        threading._shutdown()  # type: ignore[attr-defined]
    except BaseException:
        print(f"Exception ignored in: {threading!r}", file=sys.stderr)
        traceback.print_exc()


def wait_for_children() -> None:
    """Wait for the script's child processes as Python does before it ends; those it would kill are left to it."""
    processes = sys.modules.get("multiprocessing.process")
    with contextlib.suppress(KeyboardInterrupt):  # an impatient Ctrl-C: they are not waited for
        for child in () if processes is None else processes.active_children():
            if not child.daemon:
                child.join()


def _interpreter() -> list[str]:
    """The part of the command line before `whygrad`: the interpreter and its own options."""
    words = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv)]
    return words[:-1] if words[-1:] == ["-m"] else words


def _as_typed(invocation: Invocation) -> list[str]:
    if invocation.code is not None:
        return ["-c", invocation.code, *invocation.args]
    return [*(["-m"] if invocation.is_module else []), invocation.target, *invocation.args]


def _first_path(invocation: Invocation) -> str:
    if invocation.is_module:
        return os.getcwd()
    if not invocation.is_file:
        return ""
    if _is_archive(invocation.target):
        return _absolute(invocation.target)
    return os.path.dirname(os.path.realpath(invocation.target))


def _empty_main() -> types.ModuleType:
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    if sys.version_info < (3, 14):  # later ones make it when it is first wanted
        module.__annotations__ = {}
    return module
