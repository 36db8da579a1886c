"""`whygrad doctor`: what is installed here, what of it whygrad can use, and what to do about the rest."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata, util
from pathlib import Path
from typing import Final

import click

import whygrad
from whygrad.errors import UsageError

_TENSORFLOW: Final = ("tensorflow", "tensorflow-cpu", "tf-nightly", "tf-nightly-cpu", "tensorflow-macos")
_BESIDE: Final = {"keras": "keras", "tf_keras": "tf-keras", "numpy": "numpy"}  # module -> distribution
_LONGEST: Final = 200  # characters of an exception's text


@dataclass
class Findings:
    """Lines of facts, and what is to be done; nothing to do is well."""

    facts: list[tuple[str, str]] = field(default_factory=list)
    todo: list[str] = field(default_factory=list)


@click.command(
    "doctor",
    short_help="Show what is installed here, and what to do about it.",
    epilog="""\b
Example:
  whygrad doctor""",
)
def command() -> int:
    """Show versions, what of TensorFlow whygrad can use, and the configuration that holds here.

    Exits with 1 where something is to be done.
    """
    found = Findings()
    found.facts.append(("whygrad", f"{whygrad.__version__}  {Path(whygrad.__file__).parent}"))
    found.facts.append(("python", f"{platform.python_version()}  {sys.executable}"))
    _tensorflow(found)
    _configuration(found)
    width = max(len(name) for name, _ in found.facts)
    for name, text in found.facts:
        click.echo(f"{name:{width}}  {text}")
    click.echo()
    for text in found.todo or ["nothing to do: whygrad can watch, lint and fix here"]:
        click.echo(f"{'to do: ' if found.todo else ''}{text}")
    return int(bool(found.todo))


def _tensorflow(found: Findings) -> None:
    """Versions, and which private names this TensorFlow has."""
    installed = {name: version for name in _TENSORFLOW if (version := _version(name)) is not None}
    named = ", ".join(f"{version} ({name})" for name, version in installed.items())
    found.facts.append(("tensorflow", named or "not installed"))
    for module, distribution in _BESIDE.items():
        found.facts.append((module, _version(distribution) or "not installed"))
    if len(installed) > 1:
        found.todo.append(f"keep one of {' and '.join(installed)}: they overwrite each other's files")
    if util.find_spec("tensorflow") is None:
        found.facts.append(("can be used", "lint, explain, rules and doctor: the other commands need TensorFlow"))
        found.todo.append("pip install tensorflow, to run, watch and fix programs; `whygrad lint` does without")
        return
    _capabilities(found)


def _capabilities(found: Findings) -> None:
    from whygrad.backends import capabilities

    try:
        with quietly():
            known, lost = capabilities("tensorflow")
    except Exception as error:  # whatever a broken installation brings about
        reason = f"{type(error).__name__}: {error}"
        found.facts.append(("can be used", f"nothing of TensorFlow, which cannot be imported: {reason[:_LONGEST]}"))
        found.todo.append("make `python -c 'import tensorflow'` work first")
        return
    found.facts.append(("can be used", f"{known - len(lost)} of {known} private names of TensorFlow were found"))
    for name, loss in lost.items():
        found.facts.append(("missing", f"{name}: {loss}"))
    if lost:
        found.todo.append("use a TensorFlow from 2.16 to 2.21, or report the missing names; all else works")
    backend = os.environ.get("KERAS_BACKEND", "tensorflow")
    if backend != "tensorflow":
        found.todo.append(f"unset KERAS_BACKEND={backend}: whygrad watches Keras on TensorFlow")


def _configuration(found: Findings) -> None:
    from whygrad.config import config_file, find_config

    here = Path.cwd()
    try:
        file = config_file(here)
        find_config(here)
    except UsageError as error:
        found.facts.append(("configuration", f"not read: {error.message}"))
        found.todo.append(error.help or "correct the file, or pass --no-config")
        return
    found.facts.append(("configuration", "none: no pyproject.toml has [tool.whygrad]" if file is None else str(file)))


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Importing TensorFlow writes to standard error, from C++, before it can be told not to."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
