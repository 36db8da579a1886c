"""Runs a program as `python` does, in this process."""

from __future__ import annotations

import builtins
import contextlib
import os
import sys
import threading
import traceback
import types

import whygrad
from whygrad.cli.output import flush_script_output
from whygrad.cli.program import Invocation, Program, absolute, is_archive


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
    return [*(["-m"] if invocation.is_module else []), invocation.target, *invocation.args]


def _first_path(invocation: Invocation) -> str:
    if invocation.is_module:
        return os.getcwd()
    if is_archive(invocation.target):
        return absolute(invocation.target)
    return os.path.dirname(os.path.realpath(invocation.target))


def _empty_main() -> types.ModuleType:
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    if sys.version_info < (3, 14):  # later ones make it when it is first wanted
        module.__annotations__ = {}
    return module
