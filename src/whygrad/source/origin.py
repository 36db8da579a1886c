"""Where data come from: the statements that gave them their names, followed back through loops, calls and data sets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from whygrad.source.arguments import argument_span
from whygrad.source.module import Function, Module, last_name, located, parameters, plain_names, root_of, targets_of
from whygrad.source.text import SourceSpan

_MOST_HOPS: Final = 12
_PACKING: Final = ("from_tensor_slices", "from_tensors", "zip")  # make a data set of the parts they are given
_LEARNING: Final = ("fit_transform", "transform")  # `scaler.transform(x)` gives x, not the scaler
_LIBRARIES: Final = ("np", "numpy", "tf", "tensorflow", "keras", "K", "ops", "rng", "pd")

Path = tuple[int, ...]  # which part of a tuple, and which part of that


@dataclass(frozen=True, slots=True)
class Hop:
    """A name that data went through, and the statement that gave it to them."""

    name: str
    made: SourceSpan


def hops(span: SourceSpan | None, path: Path = ()) -> list[Hop]:
    """The names that the value of an expression had, the latest first; `path`: of which part of the value."""
    found = located(span)
    if found is None or not isinstance(found[1], ast.expr):
        return []
    steps = islice(_back(found[0], found[1], path), _MOST_HOPS)
    return [Hop(name, found[0].span(statement)) for name, statement in steps]


def zipped_around(span: SourceSpan | None) -> list[list[SourceSpan]]:
    """Of each list that the loop around a place goes through side by side: its expression, and where that was made."""
    found = located(span)
    loops = [] if found is None else found[0].loops_around(found[1])
    if found is None or not loops or not isinstance(loops[0], ast.For):
        return []
    match loops[0].iter:
        case ast.Call(func=ast.Name(id="zip"), args=lists):
            spans = [found[0].span(each) for each in lists]
            return [[each, *(hop.made for hop in hops(each))] for each in spans]
    return []


def numbers_in(span: SourceSpan | None) -> dict[str, float]:
    """The numbers that are written in an expression, or stand behind a name in it, each as it is written there."""
    found = located(span)
    if found is None:
        return {}
    numbers = {}
    for node in ast.walk(found[1]):
        bound = _binding(found[0], node.id, node) if isinstance(node, ast.Name) else None
        value = _number(bound.value if isinstance(bound, ast.Assign) else node)
        if value is not None:
            numbers[ast.unparse(node)] = value
    return numbers


def _number(node: ast.AST) -> float | None:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            size = _number(operand)
            return None if size is None else -size
    return None


def compared_data(loss: SourceSpan | None) -> tuple[SourceSpan | None, SourceSpan | None]:
    """Of the call of a loss: the expressions of what the model was given, and of the targets."""
    return _given_to_model(argument_span(loss, "y_pred", 1)), argument_span(loss, "y_true", 0)


def _given_to_model(prediction: SourceSpan | None) -> SourceSpan | None:
    """`x` of `model(x)`, also where the prediction has a name by then."""
    found = located(prediction)
    value = found[1] if found is not None and isinstance(found[1], ast.expr) else None
    if found is None or value is None:
        return None
    module = found[0]
    if isinstance(value, ast.Name):
        bound = _binding(module, value.id, value)
        value = bound.value if isinstance(bound, ast.Assign) else None
    inner = None
    while isinstance(value, ast.Call) and value.args:
        inner = value = value.args[0]
    return None if inner is None else module.span(inner)


def apart(one: list[Hop], other: list[Hop]) -> tuple[list[Hop], list[Hop]]:
    """Two trails without what both were packed in last."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return one[shared:], other[shared:]


def is_made_of(data: list[Hop], others: list[Hop]) -> bool:
    """Whether the statements that made some data read others by their latest name."""
    for hop in data:
        found = located(hop.made)
        names = () if found is None else plain_names(found[1])
        if others and others[0].name in (hop.name, *names):
            return True
    return False


def _back(module: Module, node: ast.expr, path: Path) -> Iterator[tuple[str, ast.stmt]]:
    """Names and the assignments that gave them their values, from an expression backwards."""
    entered: dict[ast.AST, ast.Call] = {}  # the functions that the way goes through, by their calls
    for _ in range(4 * _MOST_HOPS):
        step = _carrier(module, node, path, entered)
        if step is None:
            return
        name, path = step
        bound = _binding(module, name.id, name)
        if isinstance(bound, ast.Assign):
            path = (*_place_in(bound.targets[0], name.id), *path)
            if not _is_given(module, bound):
                yield name.id, bound
            node = bound.value
        elif isinstance(bound, (ast.For, ast.AsyncFor)):
            node, path = _iterated(bound, name.id, path)
        else:
            given = None if bound is not None else _argument(module, name, entered)
            if given is None:
                return
            node = given


def _is_given(module: Module, statement: ast.Assign) -> bool:
    """`x, y = data` of a parameter: the data had their names before."""
    value = statement.value
    return isinstance(value, ast.Name) and value.id in parameters(module.scope(statement))


def _carrier(
    module: Module, node: ast.expr, path: Path, entered: dict[ast.AST, ast.Call]
) -> tuple[ast.Name, Path] | None:
    """The name that an expression's value, or a part of it, comes from mainly, and which part of that it is.

    A call of a function of the same file is entered at what it returns.
    """
    for _ in range(32):
        returned = _returned(module, node, entered) if isinstance(node, ast.Call) else None
        if returned is not None:
            node = returned
            continue
        match node:
            case ast.Name():
                return node, path
            case ast.Tuple(elts=parts) | ast.List(elts=parts) if path and path[0] < len(parts):
                node, path = parts[path[0]], path[1:]
            case ast.Subscript(value=inner) | ast.Starred(value=inner):
                node = inner
            case ast.BinOp(left=inner) | ast.Compare(left=inner) | ast.UnaryOp(operand=inner):
                node = inner
            case ast.Call(func=function, args=[first, *_]) if last_name(function) in _PACKING:
                packed = last_name(function) == "zip" and not isinstance(first, (ast.Tuple, ast.List))
                node = ast.Tuple(elts=node.args) if packed else first
            case ast.Call(func=ast.Attribute(value=inner, attr=attr), args=[first, *_]) if attr in _LEARNING:
                node = first
            case ast.Call(func=ast.Attribute(value=inner)) if not _is_library(inner):
                node = inner
            case ast.Call(args=[first, *_]):
                node = first
            case ast.Attribute(value=inner):
                node = inner
            case _:
                return None
    return None


def _returned(module: Module, call: ast.Call, entered: dict[ast.AST, ast.Call]) -> ast.expr | None:
    """What a function of the same file returns, where it does so in one place."""
    function = function_of(module, call)
    if function is None or function in entered:
        return None
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return) and module.scope(node) is function]
    if len(returns) != 1 or returns[0].value is None:
        return None
    entered[function] = call
    return returns[0].value


def called_from(user: SourceSpan, inner: SourceSpan) -> SourceSpan:
    """The call, in the function around one place, of the function that another place is in; else the other place."""
    outside, inside = located(user), located(inner)
    if outside is None or inside is None or outside[0] is not inside[0]:
        return inner
    module, scope, function = outside[0], outside[0].scope(outside[1]), inside[0].scope(inside[1])
    calls = module.calls.get(getattr(function, "name", ""), ()) if function is not scope else ()
    return next((module.span(call) for call in calls if module.scope(call) is scope), inner)


def function_of(module: Module, call: ast.Call) -> Function | None:
    """The function that a call runs: one of the file, or a method of an object that the file makes of its own class."""
    match call.func:
        case ast.Name(id=name):
            owner = None
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            owner = module.around(call, ast.ClassDef)
        case ast.Attribute(value=ast.Name() as thing, attr=name):
            match _binding(module, thing.id, thing):
                case ast.Assign(value=ast.Call(func=ast.Name(id=kind))):
                    classes = (node for node in module.parents if isinstance(node, ast.ClassDef) and node.name == kind)
                    owner = next(classes, None)
                case _:
                    return None
            if owner is None:
                return None
        case _:
            return None
    found = [each for each in module.functions.get(name, ()) if module.around(each, ast.ClassDef) is owner]
    return found[0] if len(found) == 1 else None


def _is_library(node: ast.expr) -> bool:
    """`np`, `tf.math`, `rng`: what methods are taken from that make new values of their arguments."""
    root = root_of(node)
    return isinstance(root, ast.Name) and root.id in _LIBRARIES


def _binding(module: Module, name: str, at: ast.expr) -> ast.stmt | None:
    """The statement that gave a name its value last: before the place where it is read, in its function or around."""
    scope = module.scope(at)
    while True:
        found = [each for each in _statements(module, scope) if name in targets(each)]
        before = [each for each in found if each.lineno < at.lineno or each in module.ancestors(at)]
        inside = [each for each in found if module.statement(at) is each]
        usable = [each for each in before or found if each not in inside or isinstance(each, (ast.For, ast.AsyncFor))]
        if usable:
            return max(usable, key=lambda each: each.lineno)
        if isinstance(scope, ast.Module) or name in parameters(scope):
            return None
        scope = module.scope(scope)


def _statements(module: Module, scope: ast.AST) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(scope) if isinstance(node, ast.stmt) and module.scope(node) is scope)


def targets(statement: ast.stmt) -> set[str]:
    given = targets_of(statement) if isinstance(statement, (ast.Assign, ast.For, ast.AsyncFor)) else []
    return {name for each in given for name in plain_names(each)}


def _place_in(target: ast.expr, name: str) -> Path:
    """Where a name stands among the targets of an assignment."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for position, each in enumerate(target.elts):
            if name in plain_names(each):
                return (position, *_place_in(each, name))
    return ()


def _iterated(loop: ast.For | ast.AsyncFor, name: str, path: Path) -> tuple[ast.expr, Path]:
    """What a loop goes through, and which part of an element the name is."""
    where, source = (*_place_in(loop.target, name), *path), loop.iter
    if isinstance(source, ast.Call) and last_name(source.func) == "enumerate" and source.args:
        return source.args[0], where[1:]
    return source, where


def _argument(module: Module, name: ast.Name, entered: dict[ast.AST, ast.Call]) -> ast.expr | None:
    """What a call gives for a parameter: the one by which the function was entered, else the first."""
    function = module.scope(name)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    if name.id not in names:
        return None
    position = names.index(name.id) - (names[0] == "self")
    by = entered.pop(function, None)
    for call in module.calls.get(function.name, ()) if by is None else (by,):
        named = next((word.value for word in call.keywords if word.arg == name.id), None)
        if named is not None:
            return named
        if 0 <= position < len(call.args) and not any(isinstance(arg, ast.Starred) for arg in call.args):
            return call.args[position]
    return None
