"""Last layers that do not fit their loss, and values whose gradient is zero by construction (the family WL8)."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from whygrad.backends.api import Does, Role
from whygrad.diagnostics import Label, Severity, Word
from whygrad.lint.rules.check import Case, Finding, rules
from whygrad.lint.values.value import Kind, Literal, Node, Object, Value

_OTHER_RANGES = ("tanh", "relu", "elu", "selu", "gelu", "silu", "swish", "softsign", "softplus", "leaky_relu")


@rules(one_unit_softmax="WL801")
def one_unit_softmax(case: Case) -> Iterator[Finding]:
    """A softmax over a single unit, which is always one."""
    for made in case.facts.objects:
        is_dense = made.role is Role.LAYER and made.short == "Dense"
        if is_dense and _is(made.given("units", 0), 1) and _is(made.given("activation", 1), "softmax"):
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
                    primary=case.label(node.where, "the gradient is zero outside of the range"),
                    variables=(case.named(variable),),
                    help="start inside of the range, or use a smooth bound",
                )


@rules(not_a_probability="WL805", sigmoid_for_exclusive_classes="WL803")
def misfits(case: Case) -> Iterator[Finding]:
    """Outputs that a cross-entropy takes for what they are not."""
    for loss, flag, value, where in _entropies(case):
        if not isinstance(value, Node):
            continue
        told = isinstance(flag, Literal) and flag.value is True
        if told and value.does in (Does.SOFTMAX, Does.SIGMOID):
            help_ = "drop the activation, or `from_logits=True`"
            yield _misfit(case, where, value, "logits, but is given probabilities", help_)
        elif not told and (flag is None or (isinstance(flag, Literal) and flag.value is False)):
            if _is_linear(value) or _activation(value) in _OTHER_RANGES:
                kind = "plain numbers" if _is_linear(value) else f"the output of a `{_activation(value)}`"
                help_ = "pass `from_logits=True` and drop the activation, or end in a sigmoid or softmax"
                yield _misfit(case, where, value, f"probabilities, but is given {kind}", help_)
            elif value.does is Does.SIGMOID and case.api.entropies[loss] and _units(value) not in (None, 1):
                yield Finding(
                    rule="sigmoid-for-exclusive-classes",
                    message="each class has a sigmoid of its own, but the loss takes the classes for exclusive",
                    primary=case.label(where, "expects outputs that sum to one"),
                    related=_made(case, value),
                    help="use a softmax, or a binary cross-entropy",
                    severity=Severity.WARNING,
                )


def _entropies(case: Case) -> Iterator[tuple[str, Value | None, Value | None, ast.Call]]:
    """Each cross-entropy: its name, what it is told of logits, what it is given, and where."""
    for use in case.facts.uses:
        if use.name not in case.api.entropies or use.call is None:
            continue
        value = use.arguments[1] if len(use.arguments) > 1 else use.words.get("y_pred")
        if use.owner is None and not use.name[:1].isupper():
            yield use.name, use.words.get("from_logits"), value, use.call
        elif isinstance(use.owner, Object) and use.method == "__call__" and not use.owner.arguments:
            yield use.name, use.owner.words.get("from_logits"), value, use.call
    for training in case.facts.trainings:
        compiled = training.compiled
        if compiled is None or compiled.call is None:
            continue
        loss = compiled.loss.value if isinstance(compiled.loss, Literal) else None
        if isinstance(loss, str) and loss in case.api.entropies:
            yield loss, None, training.output, compiled.call


def _misfit(case: Case, where: ast.Call, value: Node, mistake: str, help_: str) -> Finding:
    return Finding(
        rule="not-a-probability",
        message=f"this loss expects {mistake}",
        primary=case.label(where, "takes the output for what it is not"),
        related=_made(case, value),
        help=help_,
    )


def _made(case: Case, value: Node) -> tuple[Label, ...]:
    """Where the layer was made that ends in this output."""
    layer = _layer(value)
    where = layer.where if layer is not None else value.where
    return (case.label(where, "the output"),) if isinstance(where, ast.expr) else ()


def _layer(value: Node) -> Object | None:
    node = value.inputs[0] if value.does is not Does.LAYER and value.inputs else value
    callee = node.callee if isinstance(node, Node) else None
    return callee if isinstance(callee, Object) else None


def _is_linear(value: Node) -> bool:
    """Whether a value is the plain output of a dense layer."""
    layer = value.callee if value.does is Does.LAYER else None
    return isinstance(layer, Object) and _is_plain_dense(layer)


def _activation(value: Node) -> object:
    """The activation of the dense layer that an output comes from, where it is written as a string."""
    inner = value if value.does is Does.LAYER or not value.inputs else value.inputs[0]
    layer = _layer(value)
    if layer is None or layer.short != "Dense" or layer.klass is not None or inner.where is not value.where:
        return None
    written = layer.given("activation", 1)
    return written.value if isinstance(written, Literal) else None


def _units(value: Node) -> int | None:
    layer = _layer(value)
    units = layer.given("units", 0) if layer is not None else None
    return units.value if isinstance(units, Literal) and isinstance(units.value, int) else None


@rules(stack_without_activation="WL810")
def linear_stack(case: Case) -> Iterator[Finding]:
    """Dense layers in a row without an activation: together they are one."""
    for made in case.facts.objects:
        if made.role is not Role.SEQUENTIAL or made.members is None:
            continue
        layers = [each for each in made.members if isinstance(each, Object) and each.role is not Role.INPUT]
        for one, other in itertools.pairwise(layers):
            if _is_plain_dense(one) and other.short == "Dense":
                yield Finding(
                    rule="stack-without-activation",
                    message="two dense layers in a row without an activation between them act as one linear layer",
                    primary=case.label(one.where, "no activation"),
                    help="put an activation after each layer except the last",
                    severity=Severity.NOTE,
                )


def _is_plain_dense(layer: Object) -> bool:
    if layer.short != "Dense" or layer.klass is not None or "**" in layer.words:
        return False
    activation = layer.given("activation", 1)
    return activation is None or (isinstance(activation, Literal) and activation.value in (None, "linear"))
