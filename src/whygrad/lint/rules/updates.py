"""Gradients that go to the wrong variable, and names that lose their variable."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.backends.api import Does
from whygrad.diagnostics import Severity, Word
from whygrad.lint.flow.facts import Rebinding, Update
from whygrad.lint.rules.check import Case, Finding, rules
from whygrad.lint.values.questions import group_owner
from whygrad.lint.values.reach import behind, related
from whygrad.lint.values.value import Kind, Node, Object, Value
from whygrad.source.forgotten_binding import forgotten_in
from whygrad.source.module import loads

_SCALING = (Does.MULTIPLY, Does.DIVIDE, Does.NEGATE, Does.CLIP_GRADIENTS)


@rules(misrouted_gradient="WL206", non_trainable_in_list="WL207")
def misrouted(case: Case) -> Iterator[Finding]:
    """Gradients of one list or variable that are applied to another."""
    for update in case.facts.updates:
        for gradient, variable in update.pairs or ():
            source = _source(gradient)
            if isinstance(source, Node) and isinstance(variable, Node) and source is not variable:
                yield from _pair(case, update, source, variable)


def _source(gradient: Value) -> Value | None:
    """What a gradient was taken of, through plain scaling."""
    for _ in range(20):
        if not isinstance(gradient, Node):
            return None
        if gradient.does is Does.GRADIENTS or (gradient.of is not None and gradient.kind is not Kind.VARIABLE):
            return gradient.of
        nodes = [each for each in gradient.inputs if isinstance(each, Node) and each.kind is not Kind.NUMBER]
        if gradient.does not in _SCALING or len(nodes) != 1:
            return None
        gradient = nodes[0]
    return None


def _pair(case: Case, update: Update, source: Node, variable: Node) -> Iterator[Finding]:
    if source.group is not None and variable.group is not None:
        if source.group.some or variable.group.some:
            return
        same = source.group.owner is variable.group.owner
        if same and {source.group.which, variable.group.which} == {"trainable", "all"}:
            certain = _has_others(variable.group.owner)
            yield Finding(
                rule="misrouted-gradient",
                message="gradients of the trainable variables are paired with all variables, so some may be applied to the wrong ones",
                primary=case.label(update.where, "the two lists may differ in order and length"),
                help="use the same list for both: `trainable_variables`",
                severity=Severity.ERROR if certain else Severity.WARNING,
                certain=certain,
            )
        elif _are_different(source.group.owner, variable.group.owner) and not _is_synchronised(case):
            both = isinstance(source.group.owner, Object) and isinstance(variable.group.owner, Object)
            yield _mistaken(case, update, source, variable, certain=both)
    elif source.group is None and variable.group is None and source.parent is None and variable.parent is None:
        if source.kind is Kind.VARIABLE and variable.kind is Kind.VARIABLE:
            yield _mistaken(case, update, source, variable, certain=True)
    elif _is_attribute(source) and _is_attribute(variable) and source.kind is variable.kind is Kind.VARIABLE:
        yield _mistaken(case, update, source, variable, certain=True)


def _are_different(one: Value, other: Value) -> bool:
    """Whether two owners are not the same; two attributes of one thing may be, if that is not known."""
    if one is other or related(one, other):
        return False
    return _root(one) is not _root(other) or (isinstance(one, Object) and isinstance(other, Object))


def _root(value: Value) -> Value:
    while isinstance(value, Node) and value.parent is not None:
        value = value.parent
    return value


def _is_synchronised(case: Case) -> bool:
    """Whether networks are copied into one another, so that the gradient of one may be meant for another."""
    copied = any(use.method == "set_weights" for use in case.facts.uses)
    return copied or any(write.method == "assign" for write in case.facts.writes)


def _is_attribute(node: Node) -> bool:
    return node.group is None and node.of is None


def _mistaken(case: Case, update: Update, source: Node, variable: Node, *, certain: bool) -> Finding:
    return Finding(
        rule="misrouted-gradient",
        message=f"the gradient of `{case.named(source)}` is applied to `{case.named(variable)}`",
        primary=case.label(update.where, "two different lists" if source.group is not None else "another variable"),
        variables=(case.named(variable),),
        help="apply each gradient to the variable that it was taken of",
        certain=certain,
        severity=Severity.ERROR if certain else Severity.WARNING,
    )


def _has_others(owner: Value) -> bool:
    """Whether a network is known to have variables that are not trained."""
    held = owner.objects() if isinstance(owner, Object) else ()
    return any(each.frozen or each.short == "BatchNormalization" for each in held)


@rules(non_trainable_in_list="WL207")
def asked_of_all(case: Case) -> Iterator[Finding]:
    """`variables` where `trainable_variables` was meant."""
    for request in case.facts.requests:
        for source in request.sources:
            if not isinstance(source, Node) or source.group is None or source.group.which != "all":
                continue
            if _has_others(source.group.owner) and request.tape is not None:
                yield Finding(
                    rule="non-trainable-in-list",
                    message=f"`{case.named(source)}` holds variables that are not trained and get no gradient",
                    primary=case.label(request.where, "no gradient for these"),
                    help="ask for the gradients of `trainable_variables`",
                )


@rules(variable_rebound="WL602")
def rebound(case: Case) -> Iterator[Finding]:
    """A name that loses its variable to a tensor, in a loop that goes on to train it."""
    for change in case.facts.rebindings:
        value = change.value
        if not isinstance(value, Node) or value.kind is not Kind.TENSOR or value.does in (None, Does.WRITTEN):
            continue
        if isinstance(change.where, (ast.For, ast.With)):
            continue
        used = behind(value).nodes
        if id(change.variable) not in used:
            continue
        taken = [node.of for node in used.values() if node.does is Does.GRADIENTS]
        is_step = any(each is change.variable or _same_group(each, change.variable) for each in taken)
        if _is_lost_attribute(change) or (change.place.loops and (is_step or _is_lost(case, change))):
            name = change.name or ast.unparse(change.where)
            yield Finding(
                rule="variable-rebound",
                message=f"`{name}` is bound to a tensor here, so the variable itself never changes",
                primary=case.label(change.where, "a new tensor, not an update of the variable"),
                variables=(name,),
                help=f"write `{name}.{Word.ASSIGN}(...)` or `{name}.{Word.ASSIGN_SUB}(...)`, which change it in place",
            )


def _is_lost_attribute(change: Rebinding) -> bool:
    """`self.count += 1` in a step, of a variable."""
    inside = getattr(change.place.function, "name", "__init__") not in ("__init__", "build")
    return isinstance(change.where, ast.AugAssign) and inside and change.name.startswith("self.")


def _is_lost(case: Case, change: Rebinding) -> bool:
    """Whether nobody reads what the name is bound to; or the next turn needs the variable that it held."""
    forgotten = forgotten_in(case.module).values()
    if any(change.where.lineno == span.line and change.name == name for span, name in forgotten):
        return True
    asked = [request for request in case.facts.requests if any(each is change.variable for each in request.sources)]
    return any(
        request.time < change.time
        and request.place.loops
        and change.place.loops[: len(request.place.loops)] == request.place.loops
        and request.place.calls == change.place.calls
        for request in asked
    )


def _same_group(one: Value | None, other: Node) -> bool:
    return group_owner(one) is not None and group_owner(one) is group_owner(other)


@rules(variable_rebound="WL602")
def lists_scaled(case: Case) -> Iterator[Finding]:
    """`weights *= 2`, where a list is repeated and not one of its entries is scaled."""
    for items, statement in case.facts.multiplied:
        held = [each for each in items.items if isinstance(each, Node)]
        if any(each.kind is Kind.VARIABLE or each.does in (Does.GRADIENTS, Does.TO_ARRAY) for each in held):
            name = ast.unparse(statement.target)
            yield Finding(
                rule="variable-rebound",
                message=f"`{name}` is a list, which `*=` repeats: nothing in it is multiplied",
                primary=case.label(statement, "a longer list, or an exception where the number is not an integer"),
                variables=(name,),
                help=f"multiply each entry: `[each * factor for each in {name}]`, and `{Word.ASSIGN}` what is a variable",
            )


@rules(assign_between_forward_and_gradient="WL601")
def written_in_between(case: Case) -> Iterator[Finding]:
    """A variable that is written after the forward pass read it, under the tape whose gradient is asked of it."""
    for request in case.facts.requests:
        if request.tape is None or request.method == "fit":
            continue
        found = case.reach(request)
        for write in case.facts.writes:
            variable = write.variable
            if write.time > request.time or write.place.calls != request.place.calls or variable.group is not None:
                continue
            if not any(source is variable for source in request.sources):
                continue
            reads = [node.time for node in found.nodes.values() if any(each is variable for each in node.inputs)]
            if reads and max(reads) < write.time:
                yield Finding(
                    rule="assign-between-forward-and-gradient",
                    message="a variable is written after the forward pass read it and before its gradient is taken",
                    primary=case.label(write.where, "the gradient is still that of the old value"),
                    related=(case.label(request.where, "the gradient is asked for here"),),
                    help="take the gradient first, and write the variable after that",
                    asked=case.span(request.where),
                )


@rules(clip_unused="WL311")
def clipped_for_nothing(case: Case) -> Iterator[Finding]:
    """Clipped gradients that nobody uses, while the update is given those that were not."""
    seen: set[int] = set()
    for node in case.facts.nodes:
        is_clip = node.does in (Does.CLIP_GRADIENTS, Does.CLIP)
        if not is_clip or not isinstance(node.where, ast.Call) or id(node.where) in seen:
            continue
        seen.add(id(node.where))
        raw = next((each for each in node.inputs if isinstance(each, Node) and each.does is Does.GRADIENTS), None)
        applied = [gradient for update in case.facts.updates for gradient, _ in update.pairs or ()]
        if raw is None or not any(each is raw for each in applied) or not _is_unused(case, node.where):
            continue
        yield Finding(
            rule="clip-unused",
            message="these gradients are clipped, but the update is given them as they were",
            primary=case.label(node.where, "gives new tensors, which nothing uses"),
            help="clip before the update, and apply the result",
            severity=Severity.WARNING,
        )


def _is_unused(case: Case, call: ast.Call) -> bool:
    """Whether what a call gives, or a list of what it gives, is dropped or bound to names that nobody reads."""
    statement = case.module.statement(call)
    if not isinstance(statement, (ast.Expr, ast.Assign)):
        return False
    given = statement.value.elt if isinstance(statement.value, ast.ListComp) else statement.value
    if given is not call or isinstance(statement, ast.Expr):
        return given is call
    target = statement.targets[0]
    first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
    if not isinstance(first, ast.Name) or first.id.startswith("_"):
        return False
    after = (each for each in loads(case.module.scope(call), first.id) if each.lineno > call.lineno)
    loop = any(isinstance(each, (ast.For, ast.While)) for each in case.module.ancestors(call))
    return not any(after) and not (loop and _is_read_before(case, call, first.id))


def _is_read_before(case: Case, call: ast.Call, name: str) -> bool:
    """Whether the next turn reads a name before it is bound anew: it is not where each turn begins by binding it."""
    scope = case.module.scope(call)
    reads = [each.lineno for each in loads(scope, name)]
    named = (each for each in ast.walk(scope) if isinstance(each, ast.Name) and each.id == name)
    stores = [each.lineno for each in named if isinstance(each.ctx, ast.Store) and each.lineno < call.lineno]
    return bool(reads) and (not stores or min(reads) < min(stores))
