"""Diagnostics and sources to render."""

from __future__ import annotations

import itertools
import linecache
import textwrap
from pathlib import Path
from typing import Any

from whygrad.diagnostics import Diagnostic, Label, Severity
from whygrad.source import SourceSpan

CUT = "float32 -> int32: the gradient stops here"
HELP = "keep this value in floating point, or move the cast out of the loss"
TRAIN = """\
import tensorflow as tf

w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    scaled = w * 3.0
    bucket = tf.cast(w * 3.0, tf.int32)
    loss = tf.cast(bucket, tf.float32)

print("one")
print("two")
print("three")
grads = tape.gradient(loss, [w])
"""

_numbers = itertools.count()


def write(name: str, text: str) -> str:
    """The path of a new file in the working directory."""
    path = Path.cwd() / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def in_memory(text: str) -> str:
    """The name of a source that exists only where Python looks up source lines."""
    name = f"<sample {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return name


def span(file: str, line: int, code: str) -> SourceSpan:
    """The first occurrence of some code in a line."""
    column = linecache.getline(file, line).index(code)
    return SourceSpan(file, line, column, line, column + len(code))


def diagnostic(primary: SourceSpan | None = None, text: str = CUT, **fields: Any) -> Diagnostic:
    """A finding about `w`, with any field replaced."""
    known: dict[str, Any] = {
        "code": "WG101",
        "rule": "non-differentiable-op",
        "severity": Severity.ERROR,
        "message": "no gradient reaches `w`: its path to the loss is cut by a cast",
        "primary": None if primary is None else Label(primary, text),
        "variables": ("w",),
    }
    return Diagnostic(**{**known, **fields})


def lines(text: str) -> str:
    """An indented block of expected text, as it is printed."""
    return textwrap.dedent(text).strip("\n")
