"""The user's own names for things, read from the source."""

from __future__ import annotations

import ast

from whygrad.capture.slicing import module_of
from whygrad.source import SourceSpan


def callee(span: SourceSpan) -> str | None:
    """`network` for the call `network(x)` at a span; dotted names too."""
    module = module_of(span.file)
    node = None if module is None else module.at(span)
    if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
        return None
    return ast.unparse(node.func)


def alias_assignment(file: str, first: str, second: str) -> SourceSpan | None:
    """Where `first = second` stands in a file."""
    module = module_of(file)
    for node in ast.walk(module.tree) if module is not None else ():
        if not isinstance(node, ast.Assign) or ast.unparse(node.value) != second:
            continue
        if any(ast.unparse(target) == first for target in node.targets):
            return SourceSpan(file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
    return None


def is_looped_over(span: SourceSpan | None) -> bool:
    """Whether the list at a span is gone through on the spot, so that it matters how long it is then."""
    module = None if span is None else module_of(span.file)
    node = None if module is None or span is None else module.at(span)
    parent = None if module is None or node is None else module.parents.get(node)
    if isinstance(parent, (ast.comprehension, ast.For, ast.Starred)):
        return True
    return isinstance(parent, ast.Call) and ast.unparse(parent.func).split(".")[-1] in _LOOPING


_LOOPING = {"zip", "map", "enumerate", "list", "tuple", "build", "extend"}


def rebinds_itself(span: SourceSpan | None) -> bool:
    """Whether the statement at a span binds a name to a value made of that name: `w = w - rate * g`, `w -= ...`."""
    module = None if span is None else module_of(span.file)
    node = None if module is None or span is None else module.at(span)
    statement = None if module is None or node is None else module.statement(node)
    if isinstance(statement, ast.AugAssign):
        return True
    if not isinstance(statement, ast.Assign):
        return False
    used = {ast.unparse(each) for each in ast.walk(statement.value) if isinstance(each, (ast.Name, ast.Attribute))}
    used |= {ast.unparse(each) for each in ast.walk(statement.value) if isinstance(each, ast.Subscript)}
    return any(ast.unparse(target) in used for target in statement.targets)


def multiplication(span: SourceSpan) -> tuple[SourceSpan, int | None] | None:
    """`[made_here()] * 3` around the call at a span, and the number of times where it is written there."""
    module = module_of(span.file)
    node = None if module is None else module.at(span)
    if module is None or not isinstance(node, ast.Call):
        return None
    held = module.parents.get(node)
    product = module.parents.get(held) if isinstance(held, (ast.List, ast.Tuple)) else None
    if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
        return None
    other = product.right if product.left is held else product.left
    times = other.value if isinstance(other, ast.Constant) and isinstance(other.value, int) else None
    where = SourceSpan(span.file, product.lineno, product.col_offset, product.end_lineno, product.end_col_offset)
    return where, times
