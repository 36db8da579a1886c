"""Losses that are given the wrong things, or none (the family WL7)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.backends.api import Does, Role
from whygrad.diagnostics import Severity
from whygrad.lint.rules.check import Case, Finding, beside, rules
from whygrad.lint.values.questions import group_owner, is_none
from whygrad.lint.values.reach import behind, is_data, is_listed
from whygrad.lint.values.value import Function, Kind, Node, Object, Value

_LABELS = ("y_true", "labels", "target")


@rules(loss_arguments_swapped="WL704")
def swapped(case: Case) -> Iterator[Finding]:
    """Labels and predictions that are exchanged."""
    for use in case.facts.uses:
        is_loss = not use.name[:1].isupper() if use.owner is None else use.method == "__call__"
        if use.name not in case.api.labels_first or use.call is None or not is_loss:
            continue
        if len(use.arguments) < 2 or not _is_predicted(use.arguments[0]) or not _is_given(use.arguments[1]):
            continue
        first, second = (ast.unparse(use.call.args[position]) for position in (0, 1))
        yield Finding(
            rule="loss-arguments-swapped",
            message="the labels and the predictions of this loss are exchanged",
            primary=case.label(use.call, "the labels come first, then the predictions"),
            help=f"write `{ast.unparse(use.call.func)}({second}, {first}, ...)`, or name the arguments",
        )


def _is_predicted(value: Value) -> bool:
    """Whether a network computes it."""
    used = behind(value)
    return any(isinstance(each, Object) for each in used.callees) and not _is_indexed(value)


def _is_indexed(value: Value) -> bool:
    return isinstance(value, Node) and value.does in (Does.INDEX, Does.ONE_HOT, Does.COMPARE, Does.STOP, Does.SHAPE)


def _is_given(value: Value) -> bool:
    """Whether it is data: nothing that a network or something unknown computed."""
    if is_data(value):
        return True
    used = behind(value)
    if used.callees or used.unknown:
        return False
    nodes = list(used.nodes.values())
    if any(node.kind is Kind.UNKNOWN and node.name not in _LABELS for node in nodes if node.does is not Does.EITHER):
        return False
    return bool(nodes) and not any(node.kind is Kind.VARIABLE for node in nodes)


@rules(no_loss="WL701")
def no_loss(case: Case) -> Iterator[Finding]:
    """Networks that are compiled without a loss, and trained."""
    for training in case.facts.trainings:
        network, compiled = training.network, training.compiled
        if compiled is None or "**" in compiled.words or len(compiled.arguments) > 1:
            continue
        if not is_none(compiled.words.get("loss")):
            continue
        own = ("train_step", "compute_loss", "compute_gradients")
        if network.klass is not None and any(isinstance(network.klass.find(name), Function) for name in own):
            continue
        if "add_loss" in case.module.text or (network.members is None and network.klass is None):
            continue
        assert compiled.call is not None
        yield Finding(
            rule="no-loss",
            message="this model is trained without a loss",
            primary=case.label(training.where, "nothing to take a gradient of"),
            related=(case.label(compiled.call, "compiled without one"),),
            help="pass `loss=` to `compile`",
        )


@rules(training_flag="WL705")
def training_flag(case: Case) -> Iterator[Finding]:
    """Layers that behave differently in training, called in a training step without being told."""
    for request in case.facts.requests:
        if request.method == "fit" or request.tape is None:
            continue
        found = case.reach(request)
        for node in found.nodes.values():
            layer = node.callee
            if not isinstance(layer, Object) or layer.short not in case.api.flagged:
                continue
            if not is_none(node.words.get("training")) or layer.frozen or not is_listed(request.sources, layer):
                continue
            where = (beside(request.tape, node.place) if node.place is not None else None) or node.where
            if isinstance(where, ast.expr) and _is_updated(case, request.sources):
                yield Finding(
                    rule="training-flag",
                    message=f"`{layer.short}` behaves differently in training, but this call does not say that it is",
                    primary=case.label(where, "called without `training=True`"),
                    help="pass `training=True` in the training step, and `training=False` elsewhere",
                    severity=Severity.WARNING,
                )


def _is_updated(case: Case, sources: list[Value]) -> bool:
    owners = [owner for each in sources if (owner := group_owner(each)) is not None]
    return any(group_owner(each) in owners for update in case.facts.updates for _, each in update.pairs or ())


def _single_name(statement: ast.AST | None) -> str | None:
    """`x` for `x = ...`; None for what is not bound to one name."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None


def _dead(function: ast.AST) -> list[ast.AST]:
    """Assignments to names that nobody reads, other than in such assignments."""
    assigned = [each for each in ast.walk(function) if _single_name(each)]
    dead: list[ast.AST] = []
    while True:
        inside = {id(each) for statement in dead for each in ast.walk(statement)}
        reads = {
            each.id
            for each in ast.walk(function)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and id(each) not in inside
        }
        found = [each for each in assigned if _single_name(each) not in reads]
        if len(found) == len(dead):
            return dead
        dead = found


@rules(missing_loss_term="WL702")
def missing_term(case: Case) -> Iterator[Finding]:
    """Penalties of layers that the loss of a custom loop leaves out."""
    text = case.module.text
    if ".losses" in text or "compute_loss" in text or "compiled_loss" in text:
        return
    for request in case.facts.requests:
        if request.method == "fit":
            continue
        for source in request.sources:
            owner = group_owner(source)
            penalised = [each for each in owner.objects() if _is_penalised(each)] if isinstance(owner, Object) else []
            if penalised and _is_updated(case, request.sources):
                yield Finding(
                    rule="missing-loss-term",
                    message="the penalty of a layer is not in the loss",
                    primary=case.label(penalised[0].where, "asks for a penalty"),
                    related=(case.label(request.where, "this loss does not have it"),),
                    help="add `sum(model.losses)` to the loss",
                    asked=case.span(request.where),
                )
                break


def _is_penalised(made: Object) -> bool:
    penalties = (value for name, value in made.words.items() if name.endswith("_regularizer"))
    return made.role is Role.LAYER and not all(map(is_none, penalties))


@rules(sampling_noise_unused="WL302")
def noise_unused(case: Case) -> Iterator[Finding]:
    """A random draw in a layer, or under a tape, whose name nobody reads."""
    for node in case.facts.nodes:
        if node.does is not Does.NOISE or not isinstance(node.where, ast.Call) or node.place is None:
            continue
        parent, function = case.module.parents.get(node.where), case.module.scope(node.where)
        name = _single_name(parent)
        inside = bool(node.under) or getattr(function, "name", "") in ("call", "train_step")
        if name and inside and not name.startswith("_") and parent in _dead(function):
            yield Finding(
                rule="sampling-noise-unused",
                message=f"the random draw `{name}` is never used, so the sample is not random",
                primary=case.label(node.where, "drawn, but not used"),
                help="use it in the sample",
                severity=Severity.WARNING,
            )
