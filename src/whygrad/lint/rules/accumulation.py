"""Gradients of several micro-batches that are added up (the family WL5)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from whygrad.backends.api import Does
from whygrad.diagnostics import Severity, Word
from whygrad.lint.flow.facts import Write
from whygrad.lint.rules.check import Case, Finding, rules
from whygrad.lint.values.questions import options
from whygrad.lint.values.reach import flat
from whygrad.lint.values.value import Kind, Literal, Node, Value

_SCALING = (Does.MULTIPLY, Does.DIVIDE)
_PASSING = (Does.MOVE, Does.NEGATE, Does.EITHER, Does.CLIP_GRADIENTS, Does.GATHER)
_ZERO = (Does.SHAPE, Does.FILLED, Does.CONSTANT)


@dataclass(frozen=True, slots=True)
class Way:
    """How a value came from a gradient."""

    gradient: Node
    scaled: bool
    clipped: Node | None


def way_to_gradient(value: Value) -> Way | None:
    """From a value back to the gradient that it is, but for a factor; None where it is something else."""
    scaled, clipped = False, None
    for _ in range(30):
        if not isinstance(value, Node):
            return None
        if value.does is Does.GRADIENTS:
            return Way(value, scaled, clipped)
        if value.does is Does.CLIP_GRADIENTS:
            clipped = value
        if value.does not in (*_SCALING, *_PASSING):
            return None
        scaled = scaled or value.does in _SCALING
        found = [each for each in value.inputs if isinstance(each, Node) and _leads(each)]
        if len(found) != 1:
            return None
        value = found[0]
    return None


def _leads(node: Node, depth: int = 8) -> bool:
    if node.does is Does.GRADIENTS:
        return True
    if depth == 0 or node.does not in (*_SCALING, *_PASSING):
        return False
    return any(isinstance(each, Node) and _leads(each, depth - 1) for each in node.inputs)


def _sums(case: Case) -> Iterator[tuple[Node, Way]]:
    """`total = total + gradient` in a loop, from a total that begins at zero."""
    for node in case.facts.nodes:
        if node.does is not Does.ADD or len(node.inputs) != 2 or node.place is None or not node.place.loops:
            continue
        for one, other in (node.inputs, node.inputs[::-1]):
            way = way_to_gradient(other)
            if way is not None and _is_zero(one) and isinstance(node.where, (ast.expr, ast.stmt)):
                yield node, way


def _is_zero(value: Value) -> bool:
    if isinstance(value, Literal):
        return value.value in (0, 0.0) and value.value is not False
    if not isinstance(value, Node):
        return False
    if value.does is Does.EITHER:
        return any(map(_is_zero, value.inputs))
    called = value.where.func if isinstance(value.where, ast.Call) else None
    return value.does in _ZERO and called is not None and "zero" in ast.unparse(called)


@rules(accumulation_no_averaging="WL501")
def not_averaged(case: Case) -> Iterator[Finding]:
    """Sums of gradients that are applied as they are."""
    totals = [(node, node.where, way) for node, way in _sums(case)]
    totals += [(write.variable, write.where, way) for write, way in _slot_sums(case)]
    for total, where, way in totals:
        if way.scaled or _is_scaled_loss(way.gradient):
            continue
        for update in case.facts.updates:
            if any(_is_plainly(gradient, total) for gradient, _ in update.pairs or ()):
                yield Finding(
                    rule="accumulation-no-averaging",
                    message="gradients of several micro-batches are added up and applied without being averaged",
                    primary=case.label(update.where, "a step as many times too long as there are micro-batches"),
                    related=(case.label(where, "added up here"),) if where is not None else (),
                    help="divide by the number of micro-batches, or use `wg.Accumulator`",
                    severity=Severity.WARNING,
                    certain=False,
                )
                break


def _is_plainly(value: Value, total: Node) -> bool:
    """Whether a value is the sum itself, or what only moves it."""
    for _ in range(10):
        if value is total:
            return True
        if not isinstance(value, Node) or value.does not in (Does.EITHER, Does.MOVE, Does.SMOOTH):
            return False
        found = [each for each in value.inputs if isinstance(each, Node)]
        if value.does is Does.EITHER and total in found:
            return True
        if len(found) != 1:
            return False
        value = found[0]
    return False


def _is_scaled_loss(gradient: Node) -> bool:
    """Whether the loss is divided by something, or is a sum over examples."""
    target = gradient.inputs[0] if gradient.inputs else None
    for _ in range(4):
        if not isinstance(target, Node):
            return True
        if target.does in (Does.DIVIDE, Does.MULTIPLY, Does.SUM) or target.kind is Kind.UNKNOWN:
            return True
        if target.does is Does.REDUCE:
            return False
        target = target.inputs[0] if len(target.inputs) == 1 else None
    return True


def _slot_sums(case: Case) -> Iterator[tuple[Write, Way]]:
    """Variables that gradients are added to, other than those that are trained."""
    for write in case.facts.writes:
        way = way_to_gradient(write.value) if write.method == "assign_add" and write.value is not None else None
        if way is not None and write.variable.trainable is False and write.variable.group is None:
            yield write, way


@rules(accumulation_not_reset="WL502")
def not_reset(case: Case) -> Iterator[Finding]:
    """Slots that gradients are added to, and that nobody sets back after the update."""
    for write, _ in _slot_sums(case):
        slot = write.variable
        back = [each for each in case.facts.writes if each.method == "assign" and _may_be(each.variable, slot)]
        updates = [u for u in case.facts.updates for g, _ in u.pairs or () if _comes_from(g, slot)]
        made_here = slot.place is not None and bool(updates) and slot.place.calls == updates[0].place.calls
        again = bool(updates) and (bool(updates[0].place.loops) or (bool(updates[0].place.calls) and not made_here))
        if not back and again:
            yield Finding(
                rule="accumulation-not-reset",
                message=f"`{case.named(slot)}` still holds the gradients of earlier updates",
                primary=case.label(write.where, "added to what is there, and never set back"),
                related=(case.label(updates[0].where, "applied here"),),
                help=f"write `slot.{Word.ASSIGN}(...)` with zeros after every update",
                called=case.span(updates[0].where),
            )


def _may_be(value: Value, slot: Node) -> bool:
    return any(each.where is slot.where for each in options(value))


def _comes_from(value: Value, slot: Node, depth: int = 8) -> bool:
    if value is slot:
        return True
    if not isinstance(value, Node) or depth == 0:
        return False
    return any(_comes_from(each, slot, depth - 1) for one in value.inputs for each in flat(one))


@rules(accumulation_clip_per_microbatch="WL505")
def clipped_too_early(case: Case) -> Iterator[Finding]:
    """Gradients that are clipped before they are added up."""
    if any(node.does is Does.ADD and not node.under and _has_noise(node) for node in case.facts.nodes):
        return  # private training: noise is added to gradients that are bounded one by one, on purpose
    for _, way in (*_sums(case), *_slot_sums(case)):
        if way.clipped is not None and isinstance(way.clipped.where, ast.expr):
            yield Finding(
                rule="accumulation-clip-per-microbatch",
                message="the gradients of each micro-batch are clipped before they are added up",
                primary=case.label(way.clipped.where, "bounds each part, not the update"),
                help="add up first, and clip the sum",
                severity=Severity.WARNING,
            )


def _has_noise(node: Node, depth: int = 2) -> bool:
    if node.does is Does.NOISE:
        return True
    return depth > 0 and any(isinstance(each, Node) and _has_noise(each, depth - 1) for each in node.inputs)
