"""Variables, layers, metrics and optimizers that are made again in every turn, call or trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.backends.api import Role
from whygrad.diagnostics import Severity, Word
from whygrad.lint.rules.check import NETWORKS, Case, Finding, rules
from whygrad.lint.values.questions import group_owner, is_weightless
from whygrad.lint.values.value import Literal, Node, Object, Place
from whygrad.source.module import parameters


@rules(variable_recreated="WL203", variable_created_in_tf_function="WL204")
def made_anew(case: Case) -> Iterator[Finding]:
    """Variables and layers that are made again in every turn, call or trace."""
    for variable in case.facts.variables:
        place = variable.place
        if place is None or not isinstance(variable.where, ast.expr):
            continue
        if place.traced is not None and variable.name != "add_weight" and not _may_be_made_once(case, variable, place):
            held = not place.branch and _is_held(case, variable)
            yield Finding(
                rule="variable-created-in-tf-function",
                message=f"`{case.named(variable)}` is made while `{Word.COMPILED_FUNCTION}` is traced",
                primary=case.label(variable.where, "every trace would make another variable, which raises"),
                variables=(case.named(variable),),
                help="make the variable once, outside of the compiled function, and pass it in",
                certain=not held,
                severity=Severity.WARNING if held else Severity.ERROR,
            )
        elif _loops(place) and _is_updated_in_turn(case, variable):
            yield _recreated(case, variable, "recreated in every iteration of the loop")
        elif _is_in_call(case, place):
            yield _recreated(case, variable, "recreated in every call")
    for made in case.facts.objects:
        if made.role is Role.METRIC and made.place.traced is not None and not made.place.branch and made.klass is None:
            yield Finding(
                rule="variable-created-in-tf-function",
                message=f"a metric is made while `{Word.COMPILED_FUNCTION}` is traced, and makes its variables there",
                primary=case.label(made.where, "every trace would make others, which raises"),
                help="make the metric once, outside of the compiled function",
            )
        if made.role in (Role.SEQUENTIAL, Role.NETWORK) and _is_trained_in_turn(case, made):
            yield _recreated(case, made, "recreated in every iteration of the loop")
        is_layer = made.role is Role.LAYER and made.klass is None and not is_weightless(made, case.api)
        if is_layer and made.called and _is_in_call(case, made.place):
            yield _recreated(case, made, "recreated in every call")


def _may_be_made_once(case: Case, variable: Node, place: Place) -> bool:
    """Whether a condition may let a variable be made in the first call only, as `if self.w is None` does.

    One that asks nothing but the arguments of the call cannot: each call is traced twice before it first runs.
    """
    assert isinstance(variable.where, ast.expr)
    function = place.function
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or function is not place.traced:
        return place.branch or _is_held(case, variable)  # whoever calls it may do so once
    arguments = parameters(function) - {"self", "cls"}
    shared = {
        name for each in ast.walk(function) if isinstance(each, (ast.Global, ast.Nonlocal)) for name in each.names
    }
    return any(
        guard is None or not _asks_only(guard, arguments - shared) for guard in _guards(case, variable.where, function)
    )


def _guards(case: Case, where: ast.expr, function: ast.AST) -> Iterator[ast.expr | None]:
    """The conditions that a place in a function depends on, early returns included; None for one of another kind."""
    inside = set(ast.walk(function))
    before = (each for each in case.module.before(where) if each in inside)
    yield from (each.test for each in before if isinstance(each, ast.If) and _leaves(each))
    for parent in case.module.ancestors(where):
        if parent is function:
            return
        if isinstance(parent, (ast.If, ast.IfExp)):
            yield parent.test
        elif isinstance(parent, (ast.Try, ast.Match, ast.While, ast.ExceptHandler, ast.BoolOp, ast.Lambda)):
            yield None


def _leaves(node: ast.If) -> bool:
    return any(isinstance(each, (ast.Return, ast.Raise)) for each in ast.walk(node))


def _asks_only(test: ast.expr, arguments: set[str]) -> bool:
    """Whether a condition is made of arguments and constants."""
    plain = (ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Load)
    signs = (ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
    parts = list(ast.walk(test))
    names = {each.id for each in parts if isinstance(each, ast.Name)}
    return all(isinstance(each, (*plain, *signs)) for each in parts) and bool(names) and names <= arguments


def _is_held(case: Case, variable: Node) -> bool:
    """Whether an attribute keeps it, so that it may be made in the first call only."""
    return any(held.value is variable for held in case.facts.holdings)


def _recreated(case: Case, made: Node | Object, text: str) -> Finding:
    assert made.where is not None
    kind = "variable" if isinstance(made, Node) else "layer"
    return Finding(
        rule="variable-recreated",
        message=f"`{case.named(made)}` is {text}, so nothing it learns is kept",
        primary=case.label(made.where, f"a new {kind} each time"),
        variables=(case.named(made),),
        help=f"make the {kind} once, before the loop" if "turn" in text else f"make the {kind} in `__init__`",
    )


def _is_updated_in_turn(case: Case, variable: Node) -> bool:
    assert variable.place is not None
    assert isinstance(variable.where, ast.expr)
    loops = _loops(variable.place)
    literal = isinstance(loops[-1], ast.For) and isinstance(loops[-1].iter, (ast.List, ast.Tuple))
    if literal or case.holder(variable.where) is None or variable.dtype == "int":  # a few cases, or kept elsewhere
        return False
    for update in case.facts.updates:
        if any(each is variable for _, each in update.pairs or ()) and len(_loops(update.place)) <= len(loops):
            return not _is_held(case, variable)
    return False


def _is_trained_in_turn(case: Case, made: Object) -> bool:
    """Whether a network is made, asked for its gradients and updated once, all in one turn of a loop."""
    depth = len(_loops(made.place))
    if not depth or made.klass is not None or not isinstance(made.where, ast.expr):
        return False
    asked = [request for request in case.facts.requests if any(group_owner(each) is made for each in request.sources)]
    if not asked or any(len(_loops(request.place)) != depth or request.method == "fit" for request in asked):
        return False
    return any(group_owner(each) is made for update in case.facts.updates for _, each in update.pairs or ())


def _loops(place: Place) -> list[ast.AST]:
    return [each for each in place.loops if not isinstance(each, ast.comprehension)]


def _is_in_call(case: Case, place: Place) -> bool:
    """Whether something happens in each `call` of a layer or network of the user's."""
    if getattr(place.function, "name", "") != "call" or place.branch or place.function is None:
        return False
    parent = case.module.parents.get(place.function)
    return isinstance(parent, ast.ClassDef) and any(
        made.klass is not None and made.klass.where is parent and made.role in NETWORKS for made in case.facts.objects
    )


@rules(optimizer_recreated="WL604")
def optimizer_made_anew(case: Case) -> Iterator[Finding]:
    """Optimizers that are made in the step that uses them."""
    for update in case.facts.updates:
        optimizer = update.optimizer
        if not isinstance(optimizer, Object) or optimizer.role is not Role.OPTIMIZER or optimizer.klass is not None:
            continue
        if optimizer.place.traced is not None:
            yield Finding(
                rule="variable-created-in-tf-function",
                message=f"an optimizer is made while `{Word.COMPILED_FUNCTION}` is traced, and makes its variables there",
                primary=case.label(optimizer.where, "every trace makes another one"),
                help="make the optimizer once, outside of the compiled function",
            )
        elif optimizer.place.loops and update.place.loops == optimizer.place.loops and _has_moments(optimizer):
            yield Finding(
                rule="optimizer-recreated",
                message="this optimizer is recreated in every step, so its moments are lost each time",
                primary=case.label(optimizer.where, "a new optimizer in every iteration of the loop"),
                related=(case.label(update.where, "used for one update only"),),
                help="make the optimizer once, before the loop",
            )


@rules(optimizer_recreated="WL604")
def compiled_anew(case: Case) -> Iterator[Finding]:
    """A network that is compiled again before every short training, so that its optimizer starts anew."""
    for training in case.facts.trainings:
        compiled, loops = training.compiled, training.place.loops
        if compiled is None or compiled.call is None or not loops or compiled.place.loops != loops:
            continue
        if len(training.network.place.loops) < len(loops) and not _changes_it(case, training.network, loops[-1]):
            yield Finding(
                rule="optimizer-recreated",
                message="this model is compiled again in every iteration, so the moments of its optimizer are lost each time",
                primary=case.label(compiled.call, "a new optimizer in every iteration of the loop"),
                related=(case.label(training.where, "trained here"),),
                help="compile once, before the loop",
                severity=Severity.WARNING,
            )


def _changes_it(case: Case, network: Object, loop: ast.AST) -> bool:
    """Whether a loop freezes layers, sets weights back or the network otherwise, which needs a new compilation."""
    if isinstance(loop, ast.For) and not isinstance(loop.iter, ast.Call):
        return True
    if any(isinstance(each, ast.Attribute) and each.attr == "trainable" for each in ast.walk(loop)):
        return True
    if any(use.method in ("set_weights", "load_weights") and loop in use.place.loops for use in case.facts.uses):
        return True
    return any(held.owner is network and loop in held.place.loops for held in case.facts.holdings)


def _has_moments(optimizer: Object) -> bool:
    if optimizer.short != "SGD":
        return True
    momentum = optimizer.given("momentum", 1)
    return momentum is not None and not (isinstance(momentum, Literal) and not momentum.value)
