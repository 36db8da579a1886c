"""Last layers that do not fit their loss, and values whose gradient is zero by construction (the family WL8)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.backends.api import Does, Role
from whygrad.diagnostics import Severity, Word
from whygrad.lint.rules.check import Case, Finding, rules
from whygrad.lint.values.value import Kind, Literal, Node, Object


@rules(one_unit_softmax="WL801")
def one_unit_softmax(case: Case) -> Iterator[Finding]:
    """A softmax over a single unit, which is always one."""
    for made in case.facts.objects:
        units = made.words.get("units", made.arguments[0] if made.arguments else None)
        activation = made.words.get("activation", made.arguments[1] if len(made.arguments) > 1 else None)
        if (
            made.role is Role.LAYER
            and made.short == "Dense"
            and _is(units, 1)
            and _is(activation, "softmax")
            and made.where
        ):
            yield Finding(
                rule="one-unit-softmax",
                message="a softmax over one unit is always 1, so nothing can be learned through it",
                primary=case.label(made.where, "one unit, and a softmax"),
                help=f"use `{Word.SIGMOID}` for one probability, or two units",
            )


def _is(value: object, wanted: object) -> bool:
    return isinstance(value, Literal) and type(value.value) is type(wanted) and value.value == wanted


@rules(zero_gradient_op="WL301")
def clipped_from_the_start(case: Case) -> Iterator[Finding]:
    """A variable that begins outside of the range that it is clipped to, where the gradient is zero."""
    for request in case.facts.requests:
        for node in case.reach(request).nodes.values():
            if node.does is not Does.CLIP or len(node.inputs) < 3 or not isinstance(node.where, ast.expr):
                continue
            variable, low, high = node.inputs[:3]
            if not isinstance(variable, Node) or variable.kind is not Kind.VARIABLE or variable not in request.sources:
                continue
            start = variable.of
            numbers = [each.value for each in (start, low, high) if isinstance(each, Literal)]
            known = [each for each in numbers if isinstance(each, (int, float))]
            if len(known) == 3 and not known[1] <= known[0] <= known[2]:
                yield Finding(
                    rule="zero-gradient-op",
                    message=f"`{case.named(variable)}` begins outside of the range it is clipped to, so it never moves",
                    primary=case.label(node.where, "the gradient is zero out there"),
                    variables=(case.named(variable),),
                    help="begin inside of the range, or use a smooth bound",
                )


@rules(not_a_probability="WL805")
def probability_taken_for_logits(case: Case) -> Iterator[Finding]:
    """A loss that is told to expect logits, and is given probabilities."""
    for use in case.facts.uses:
        if use.owner is not None and use.method == "__call__" and isinstance(use.owner, Object):
            flag = use.owner.words.get("from_logits")
        else:
            flag = use.words.get("from_logits")
        value = use.arguments[1] if len(use.arguments) > 1 else use.words.get("y_pred")
        if not _is(flag, True) or not isinstance(value, Node) or value.does not in (Does.SOFTMAX, Does.SIGMOID):
            continue
        if use.call is not None:
            yield Finding(
                rule="not-a-probability",
                message="this loss expects logits, but is given the output of a softmax or sigmoid",
                primary=case.label(use.call, "squashed twice, so the gradient is small"),
                related=(case.label(value.where, "probabilities already"),)
                if isinstance(value.where, ast.expr)
                else (),
                help="drop the activation, or `from_logits=True`",
                severity=Severity.WARNING,
            )
