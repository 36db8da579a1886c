"""Variables and optimizers that are made at the wrong place, or that nobody keeps track of (the family WL2)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from whygrad.backends.api import Does, Role
from whygrad.diagnostics import Severity, Word
from whygrad.lint.rules.check import Case, Finding, is_todays, rules
from whygrad.lint.values.reach import behind, flat, related
from whygrad.lint.values.value import PLAIN, Items, Kind, Klass, Literal, Node, Object, Place, Value

NETWORKS = (Role.LAYER, Role.SEQUENTIAL, Role.NETWORK)
_OWN_LIST = ("trainable_variables", "trainable_weights", "variables", "weights", "_trainable_variables")
_ANOTHER = re.compile(
    r"target|teacher|\bold|old_|_old|ema|twin|copy|slow|frozen|backup|momentum|second|reference|prev", re.I
)


@rules(untracked_variable="WL201")
def untracked(case: Case) -> Iterator[Finding]:
    """Plain variables that a layer or network of the user's holds: its lists do not have them."""
    asked = {id(each) for request in case.facts.requests for each in request.sources}
    written = {id(write.variable) for write in case.facts.writes}
    seen: set[int] = set()
    for made in case.facts.objects:
        if made.klass is None or made.role not in NETWORKS or not is_todays(case, made):
            continue
        if any(made.klass.find(name) is not None for name in _OWN_LIST) or "_track" in ast.unparse(_body(made.klass)):
            continue
        trained = _is_trained(case, made)
        for attribute, held in made.attributes.items():
            for each in _options(held):
                if not _is_plain_variable(each) or id(each) in asked | written or id(each.where) in seen:
                    continue
                if not _is_read(case, each) or not isinstance(each, Node) or not _is_initial(each.of):
                    continue
                seen.add(id(each.where))
                assert each.where is not None
                yield Finding(
                    rule="untracked-variable",
                    message=f"`{made.klass.name}` does not know its variable `{attribute}`, so no optimizer ever sees it",
                    primary=case.label(
                        each.where, f"a plain `{Word.VARIABLE}` is not tracked by {Word.NETWORK_LIBRARY} 3"
                    ),
                    variables=(attribute,),
                    help=f"make it with `self.{Word.ADD_VARIABLE}(...)`, or as `{Word.NETWORK_VARIABLE}(...)`",
                    certain=trained,
                    severity=Severity.ERROR if trained else Severity.WARNING,
                )


def _options(held: Value) -> Iterator[Value]:
    for each in flat(held):
        if isinstance(each, Node) and each.does is Does.EITHER:
            yield from each.inputs
        else:
            yield each


def _body(klass: Klass) -> ast.AST:
    assert klass.where is not None
    return klass.where


def _is_plain_variable(value: Value) -> bool:
    return (
        isinstance(value, Node)
        and value.kind is Kind.VARIABLE
        and value.name == PLAIN
        and (value.trainable is True and value.dtype != "int" and isinstance(value.where, ast.expr))
    )


def _is_initial(value: Value | None) -> bool:
    """Whether a variable begins with what weights begin with, not with data."""
    if value is None:
        return True
    nodes = [each for each in behind(value).nodes.values() if each.does is not Does.EITHER]
    return all(each.kind not in (Kind.ARRAY, Kind.VARIABLE) and not _is_data(each) for each in nodes)


def _is_data(node: Node) -> bool:
    return node.kind is Kind.UNKNOWN and node.callee is None


def _is_read(case: Case, variable: Value) -> bool:
    return any(any(each is variable for value in node.inputs for each in flat(value)) for node in case.facts.nodes)


def _is_trained(case: Case, made: Object) -> bool:
    wanted = (each for request in case.facts.requests for each in request.sources)
    return any(isinstance(each, Node) and each.group is not None and related(each.group.owner, made) for each in wanted)


@rules(unbuilt_model="WL202")
def read_before_built(case: Case) -> Iterator[Finding]:
    """Lists of variables that were read before there were any, and are used all the same."""
    early = [each for each in case.facts.readings if not each.group.built and each.group.which != "fixed"]
    if not early:
        return
    used: set[int] = set()
    values = [each for request in case.facts.requests for each in request.sources]
    values += [each for update in case.facts.updates for pair in update.pairs or () for each in pair]
    values += [
        each for use in case.facts.uses for given in use.arguments for each in flat(given) if use.method == "build"
    ]
    for node in case.facts.nodes:
        if node.does is not None:
            values += [each for value in node.inputs for each in flat(value)]
    for value in values:
        if isinstance(value, Node) and value.group is not None:
            used.add(id(value.where))
        elif isinstance(value, Node) and isinstance(value.of, Node):
            used.add(id(value.of.where))
    for reading in early:
        owner = reading.group.owner
        if id(reading.where) in used and isinstance(owner, Object) and isinstance(reading.where, ast.expr):
            name = ast.unparse(reading.where)
            yield Finding(
                rule="unbuilt-model",
                message=f"`{name}` is read before the model is built, so variables are missing from it",
                primary=case.label(reading.where, "at this point the layers have no variables yet"),
                help="give the model its input shape, or call it once, before this list is read",
            )


@rules(variable_recreated="WL203", variable_created_in_tf_function="WL204")
def made_anew(case: Case) -> Iterator[Finding]:
    """Variables and layers that are made again in every turn, call or trace."""
    for variable in case.facts.variables:
        place = variable.place
        if place is None or not isinstance(variable.where, ast.expr):
            continue
        if place.traced is not None and not place.branch and variable.name != "add_weight":
            yield Finding(
                rule="variable-created-in-tf-function",
                message=f"`{case.named(variable)}` is made while `{Word.COMPILED_FUNCTION}` is traced",
                primary=case.label(variable.where, "every trace would make another variable, which raises"),
                variables=(case.named(variable),),
                help="make the variable once, outside of the compiled function, and hand it in",
                certain=not _is_held(case, variable),
                severity=Severity.WARNING if _is_held(case, variable) else Severity.ERROR,
            )
        elif _loops(place) and _is_updated_in_turn(case, variable):
            yield _recreated(case, variable, "recreated in every turn of the loop")
        elif getattr(place.function, "name", "") == "call" and not place.branch and _in_layer(case, place.function):
            yield _recreated(case, variable, "recreated in every call")
    for made in case.facts.objects:
        function = made.place.function
        if made.role is Role.METRIC and made.place.traced is not None and not made.place.branch and made.klass is None:
            yield Finding(
                rule="variable-created-in-tf-function",
                message=f"a metric is made while `{Word.COMPILED_FUNCTION}` is traced, and makes its variables there",
                primary=case.label(made.where or ast.Pass(), "every trace would make others, which raises"),
                help="make the metric once, outside of the compiled function",
            )
        if made.role in (Role.SEQUENTIAL, Role.NETWORK) and _is_trained_in_turn(case, made):
            yield _recreated(case, made, "recreated in every turn of the loop")
        if made.klass is not None or made.role is not Role.LAYER or made.short in case.api.weightless:
            continue
        if (
            getattr(function, "name", "") == "call"
            and not made.place.branch
            and made.called
            and _in_layer(case, function)
        ):
            yield _recreated(case, made, "recreated in every call")


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
            return not any(held.value is variable for held in case.facts.holdings)
    return False


def _is_trained_in_turn(case: Case, made: Object) -> bool:
    """Whether a network is made, asked for its gradients and updated once, all in one turn of a loop."""
    depth = len(_loops(made.place))
    if not depth or made.klass is not None or not isinstance(made.where, ast.expr):
        return False
    asked = [
        request
        for request in case.facts.requests
        for each in request.sources
        if isinstance(each, Node) and each.group is not None and each.group.owner is made
    ]
    if not asked or any(len(_loops(request.place)) != depth or request.method == "fit" for request in asked):
        return False
    return any(
        isinstance(each, Node) and each.group is not None and each.group.owner is made
        for update in case.facts.updates
        for _, each in update.pairs or ()
    )


def _loops(place: Place) -> list[ast.AST]:
    return [each for each in place.loops if not isinstance(each, ast.comprehension)]


def _in_layer(case: Case, function: ast.AST | None) -> bool:
    parent = case.module.parents.get(function) if function is not None else None
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
                primary=case.label(optimizer.where or update.where, "every trace makes another one"),
                help="make the optimizer once, outside of the compiled function",
            )
        elif optimizer.place.loops and update.place.loops == optimizer.place.loops and _has_moments(optimizer):
            yield Finding(
                rule="optimizer-recreated",
                message="this optimizer is recreated in every step, so that its moments never live",
                primary=case.label(optimizer.where or update.where, "a new optimizer in every turn of the loop"),
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
                message="this model is compiled again in every turn, so that the moments of its optimizer never live",
                primary=case.label(compiled.call, "a new optimizer in every turn of the loop"),
                related=(case.label(training.where, "trained here"),),
                help="compile once, before the loop",
                severity=Severity.WARNING,
            )


def _changes_it(case: Case, network: Object, loop: ast.AST) -> bool:
    """Whether a loop freezes layers or sets the network otherwise, which needs a new compilation."""
    if isinstance(loop, ast.For) and not isinstance(loop.iter, ast.Call):
        return True
    if any(isinstance(each, ast.Attribute) and each.attr == "trainable" for each in ast.walk(loop)):
        return True
    return any(held.owner is network and loop in held.place.loops for held in case.facts.holdings)


def _has_moments(optimizer: Object) -> bool:
    if optimizer.short != "SGD":
        return True
    momentum = optimizer.words.get("momentum", optimizer.arguments[1] if len(optimizer.arguments) > 1 else Literal(0))
    return not (isinstance(momentum, Literal) and not momentum.value)


@rules(aliased_network="WL209")
def aliased(case: Case) -> Iterator[Finding]:
    """One network under two names, or many times in one list, where several were meant."""
    for items in case.facts.lists:
        held = [each for each in items.items if isinstance(each, Object) and each.role in NETWORKS]
        if items.repeated and held and isinstance(items.where, ast.expr) and not _is_weightless(case, held[0]):
            yield Finding(
                rule="aliased-network",
                message="this list holds one network several times, not several networks",
                primary=case.label(items.where, "the same object in every place"),
                help="make each one separately: `[make() for _ in range(n)]`",
                severity=Severity.WARNING,
            )
    for node in dict.fromkeys(case.facts.aliases):
        target = node.targets[0]
        name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
        written = ast.unparse(node.value)
        if _ANOTHER.search(name) and not _ANOTHER.search(written) and _holds_network(case, node.value):
            yield Finding(
                rule="aliased-network",
                message=f"`{name}` is another name for `{written}`, not a network of its own",
                primary=case.label(node, "training the one changes the other"),
                help="copy the network, and its weights after that: `clone_model`, then `set_weights`",
                severity=Severity.WARNING,
                certain=False,
            )


def _is_weightless(case: Case, made: Object) -> bool:
    return made.klass is None and made.short in case.api.weightless


def _holds_network(case: Case, value: ast.expr) -> bool:
    """Whether a name holds a network that was made here."""
    text = ast.unparse(value)
    for made in case.facts.objects:
        if (
            made.role in (Role.SEQUENTIAL, Role.NETWORK)
            and isinstance(made.where, ast.expr)
            and case.holder(made.where) == text
        ):
            return True
    return False


@rules(frozen_by_flag="WL208")
def frozen_too_late(case: Case) -> Iterator[Finding]:
    """A list of variables that was read before a flag changed what belongs into it."""
    for held in case.facts.holdings:
        if held.attribute != "trainable" or not isinstance(held.value, Literal) or held.value.value is not False:
            continue
        for reading in case.facts.readings:
            if (
                reading.time > held.time
                or reading.group.which != "trainable"
                or not related(reading.group.owner, held.owner)
            ):
                continue
            used = any(
                isinstance(each, Node) and each.where is reading.where and request.time > held.time
                for request in case.facts.requests
                for each in request.sources
            )
            if used and held.place.loops == reading.place.loops:
                yield Finding(
                    rule="frozen-by-flag",
                    message="this flag comes too late: the list that is trained was read before it",
                    primary=case.label(held.where, "does not take the variables out of a list that is there already"),
                    related=(case.label(reading.where, "read here"),),
                    help="set `trainable` first, and read the list after that",
                    severity=Severity.WARNING,
                )


__all__ = ["Does", "Items"]
