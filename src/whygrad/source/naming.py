"""The user's own names for things, read from the source."""

from __future__ import annotations

import ast

from whygrad.source.module import located, module_of
from whygrad.source.text import SourceSpan


def callee(span: SourceSpan) -> str | None:
    """`network` for the call `network(x)` at a span; dotted names too."""
    match located(span):
        case (_, ast.Call(func=(ast.Name() | ast.Attribute()) as function)):
            return ast.unparse(function)
    return None


def alias_assignment(file: str, first: str, second: str) -> SourceSpan | None:
    """Where `first = second` stands in a file."""
    module = module_of(file)
    if module is None:
        return None
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Assign) or ast.unparse(node.value) != second:
            continue
        if any(ast.unparse(target) == first for target in node.targets):
            return module.span(node)
    return None


def is_looped_over(span: SourceSpan | None) -> bool:
    """Whether the list at a span is gone through on the spot, so that it matters how long it is then."""
    found = located(span)
    parent = None if found is None else found[0].parents.get(found[1])
    if isinstance(parent, (ast.comprehension, ast.For, ast.Starred)):
        return True
    return isinstance(parent, ast.Call) and ast.unparse(parent.func).split(".")[-1] in _LOOPING


_LOOPING = {"zip", "map", "enumerate", "list", "tuple", "build", "extend"}


def rebinds_itself(span: SourceSpan | None) -> bool:
    """Whether the statement at a span binds a name to a value made of that name: `w = w - rate * g`, `w -= ...`."""
    found = located(span)
    statement = None if found is None else found[0].statement(found[1])
    if isinstance(statement, ast.AugAssign):
        return True
    if not isinstance(statement, ast.Assign):
        return False
    used = {ast.unparse(each) for each in ast.walk(statement.value) if isinstance(each, (ast.Name, ast.Attribute))}
    used |= {ast.unparse(each) for each in ast.walk(statement.value) if isinstance(each, ast.Subscript)}
    return any(ast.unparse(target) in used for target in statement.targets)


def multiplication(span: SourceSpan) -> tuple[SourceSpan, int | None] | None:
    """`[made_here()] * 3` around the call at a span, and the number of times where it is written there.

    `dict.fromkeys(names, made_here())` and `itertools.repeat(made_here(), 3)` repeat as well.
    """
    found = located(span)
    if found is None or not isinstance(found[1], ast.Call):
        return None
    module, node = found
    held = module.parents.get(node)
    if isinstance(held, ast.Call) and ast.unparse(held.func).split(".")[-1] == _REPEATING.get(_position(held, node)):
        return module.span(held), None
    product = module.parents.get(held) if isinstance(held, (ast.List, ast.Tuple)) else None
    if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
        return None
    other = product.right if product.left is held else product.left
    times = other.value if isinstance(other, ast.Constant) and isinstance(other.value, int) else None
    return module.span(product), times


_REPEATING = {0: "repeat", 1: "fromkeys"}  # by the position of what is repeated


def _position(call: ast.Call, argument: ast.AST) -> int:
    return call.args.index(argument) if argument in call.args else -1
