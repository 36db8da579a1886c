"""Words of a framework where none belong: ops by name, texts of exceptions and functions in the neutral rooms.

Run as a script it prints what it finds. Docstrings are not looked at: the pages of rules show programs.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from whygrad.backends.tensorflow.failures import SIGNS
from whygrad.backends.tensorflow.log.op_table import ACTIONS, OP_KINDS

ROOT = Path(__file__).resolve().parent.parent
NEUTRAL = ("rules", "graph", "fixes", "lint")
OPS = frozenset((Path(__file__).parent / "tensorflow_ops.txt").read_text().split()) | OP_KINDS.keys() | ACTIONS.keys()
FRAMEWORK = re.compile(r"\b(?:tf\.\w|tensorflow\b|torch\b|jax\b)", re.IGNORECASE)
KERAS = re.compile(r"\bkeras\b", re.IGNORECASE)


def violations(source: Path = ROOT / "src" / "whygrad") -> list[str]:
    """`rules/file.py:12: op name 'Relu'`, for all that speaks of a framework."""
    files = [path for room in NEUTRAL for path in sorted((source / room).rglob("*.py"))]
    return [
        f"{path.relative_to(source).as_posix()}:{line}: {what}"
        for path in files
        for line, what in _in_text(path.read_text(), keras="keras" in path.relative_to(source).parts)
    ]


def _in_text(text: str, *, keras: bool) -> Iterator[tuple[int, str]]:
    tree = ast.parse(text)
    passed_over = set(_docstrings(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in passed_over:
            yield from ((node.lineno, fault) for fault in _faults(node.value, keras=keras))
        if isinstance(node, ast.Attribute) and node.attr == "message" and ast.unparse(node.value).endswith(_RAISED):
            yield node.lineno, f"reads the text of an exception: {ast.unparse(node)}"


_RAISED = ("failure", "error")


def _docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    """Docstrings, and the names that a module gives out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            yield node.value
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            yield from (each for each in ast.walk(node.value) if isinstance(each, ast.expr))


def _faults(words: str, *, keras: bool) -> Iterator[str]:
    if words in OPS:
        yield f"op name {words!r}"
    if FRAMEWORK.search(words) or (KERAS.search(words) and not keras):
        yield f"framework in {words!r}"
    if any(re.search(sign, words) for _, sign in SIGNS):
        yield f"text of an exception {words!r}"


if __name__ == "__main__":
    found = violations()
    print(*found, f"{len(found)} words of a framework in {' and '.join(NEUTRAL)}", sep="\n")
    sys.exit(bool(found))
