"""What a static rule is, and what it is handed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from whygrad.backends.api import Api, Does, Role
from whygrad.diagnostics import Diagnostic, Fix, Label, Said, Severity
from whygrad.lint.flow.facts import Facts, Request
from whygrad.lint.flow.imports import FILE
from whygrad.lint.values.reach import Reach, reach
from whygrad.lint.values.value import Object, Place, Tape, Value
from whygrad.source import SourceSpan
from whygrad.source.module import Module

NETWORKS: Final = (Role.LAYER, Role.SEQUENTIAL, Role.NETWORK)


@dataclass(slots=True, eq=False)
class Case:
    """A file that was followed."""

    module: Module
    facts: Facts
    api: Api
    _reached: dict[int, Reach] = field(default_factory=dict)

    def reach(self, request: Request) -> Reach:
        """What the target of a request can reach along gradients; found once, not to be changed."""
        if id(request) not in self._reached:
            self._reached[id(request)] = reach(request.target, request.tape)
        return self._reached[id(request)]

    def span(self, where: ast.AST) -> SourceSpan:
        assert isinstance(where, (ast.expr, ast.stmt, ast.arg))
        file = getattr(where, FILE, self.module.file)
        return SourceSpan(file, where.lineno, where.col_offset, where.end_lineno, where.end_col_offset)

    def label(self, where: ast.AST, text: str = "") -> Label:
        return Label(self.span(where), text)

    def named(self, value: Value) -> str:
        """What the user calls a value: the expression that gives it, or the name that holds it."""
        where = value.where
        if not isinstance(where, ast.expr):
            return where.arg if isinstance(where, ast.arg) else "it"
        text = self.holder(where) or ast.unparse(where)
        return text if len(text) <= 60 else f"{text[:57]}..."

    def named_at(self, request: ast.Call, source: Value) -> str:
        """The name by which a request asks for a source; its own where it asks for several."""
        written = request.args[1] if len(request.args) > 1 else None
        return ast.unparse(written) if isinstance(written, (ast.Name, ast.Attribute)) else self.named(source)

    def holder(self, where: ast.expr) -> str | None:
        """`w` for what `w = make()` makes."""
        parent = self.module.parents.get(where)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and parent.value is where:
            target = parent.targets[0]
            if isinstance(target, (ast.Name, ast.Attribute)):
                return ast.unparse(target)
        return None


def is_todays(case: Case, made: Object) -> bool:
    """Whether a layer or network is of today's version of its library."""
    return made.home.startswith(case.api.networks)


def beside(tape: Tape, place: Place) -> ast.AST | None:
    """The call, in the function that opens the tape, in which something happens."""
    depth = len(tape.place.calls)
    inside = place.calls[:depth] == tape.place.calls and len(place.sites) > depth
    site = place.sites[depth] if inside else None
    return site if isinstance(site, ast.expr) else None


Check = Callable[[Case], Iterable["Finding"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Said):
    """What a rule saw; `rule` is its name, the engine knows its code."""

    rule: str
    primary: Label
    severity: Severity = Severity.ERROR
    # what a fix may need to know
    tape: SourceSpan | None = None
    asked: SourceSpan | None = None  # where the gradient is asked for
    called: SourceSpan | None = None  # a call of the network
    inner: SourceSpan | None = None  # the part of the place that the trouble is in
    late: bool = False  # the place is right, but comes too late
    rename: str | None = None
    does: Does | None = None  # what happens at the place


CODES: dict[str, str] = {}
CHECKS: list[Check] = []


def rules(**codes: str) -> Callable[[Check], Check]:
    """Register a check, with the code of each rule that it may speak for: `outside_tape="WL105"`."""

    def register(check: Check) -> Check:
        CODES.update({name.replace("_", "-"): code for name, code in codes.items()})
        CHECKS.append(check)
        return check

    return register


# What only two files together show: a way that begins in one and is cut in the other.
ACROSS_FILES: Final = frozenset(("non-differentiable-op", "no-registered-gradient", "numpy-escape", "zero-gradient-op"))


def diagnostics(findings: Sequence[Finding], file: str, mend: Callable[[Finding], tuple[Fix, ...]]) -> list[Diagnostic]:
    """One for each rule and place, in the order of the text, with the fixes that `mend` knows for it."""
    found: dict[tuple[str, SourceSpan], Diagnostic] = {}
    for each in findings:
        if each.primary.span.file != file and each.rule not in ACROSS_FILES:
            continue  # the other file is checked for itself
        key = each.rule, each.primary.span
        made = Diagnostic(
            code=CODES[each.rule], rule=each.rule, severity=each.severity, fixes=mend(each), **each.handed_on()
        )
        if key not in found or found[key].severity < made.severity:
            found[key] = made
    return sorted(
        found.values(), key=lambda each: (each.primary.span if each.primary else SourceSpan("", 0), each.code)
    )
