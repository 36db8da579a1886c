"""What is no mistake but worth knowing: notes that only the source can give (the family WL9)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.backends.api import Does
from whygrad.diagnostics import Severity, Word
from whygrad.lint.rules.check import Case, Finding, rules
from whygrad.lint.values.reach import flat
from whygrad.lint.values.value import Node, Value


@rules(tape_kept="WL901")
def kept_tapes(case: Case) -> Iterator[Finding]:
    """Persistent tapes of a script that are never deleted: what they recorded stays in memory."""
    for tape in case.facts.tapes:
        if tape.persistent and not tape.kept and not tape.place.calls and tape.requests:
            yield Finding(
                rule="tape-kept",
                message="this persistent tape keeps all that it recorded until its name is reassigned",
                primary=case.label(tape.where, "held by a name of the script"),
                help="write `del tape` after the last gradient",
                severity=Severity.NOTE,
            )


@rules(gradient_inside_tape="WL902")
def asked_inside(case: Case) -> Iterator[Finding]:
    """Gradients that are asked for while the tape still records, so that it records the backward pass, too."""
    for request in case.facts.requests:
        if request.inside and request.tape is not None and not request.place.loops:
            others = [each for each in case.facts.requests if each.tape is request.tape and each is not request]
            if not others:
                yield Finding(
                    rule="gradient-inside-tape",
                    message="this gradient is asked for inside of its own block, so the tape records the backward pass as well",
                    primary=case.label(request.where, "costs time and memory, unless it is differentiated again"),
                    help=f"move it behind the `with {Word.TAPE}()` block",
                    severity=Severity.NOTE,
                )


@rules(sum_by_concatenation="WL903")
def concatenated(case: Case) -> Iterator[Finding]:
    """Sums and norms of all gradients that are computed from one long copy of them."""
    for node in case.facts.nodes:
        if node.does not in (Does.SUM, Does.NORM, Does.REDUCE) or not isinstance(node.where, ast.expr):
            continue
        joined = _moved(node.inputs[0]) if node.inputs else None
        parts = list(flat(joined)) if joined is not None else []
        if parts and all(_is_flat_gradient(each) for each in parts):
            yield Finding(
                rule="sum-by-concatenation",
                message="all gradients are copied into one long tensor to look at them",
                primary=case.label(node.where, "one more copy of every gradient"),
                help="`wg.summarize(gradients, variables)` has sums, norms and extremes without the copy",
                severity=Severity.NOTE,
            )


def _moved(value: Value) -> Value | None:
    """What a value is, before it was moved; None where it was not."""
    return value.inputs[0] if isinstance(value, Node) and value.does is Does.MOVE and value.inputs else None


def _is_flat_gradient(value: Value) -> bool:
    inner = _moved(value)
    return isinstance(inner, Node) and (inner.does is Does.GRADIENTS or inner.of is not None)
