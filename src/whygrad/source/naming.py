"""The user's own names for things, where they are given, and what functions return, read from the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.source.module import last_name, located, module_of, targets_of
from whygrad.source.text import SourceSpan


def callee(span: SourceSpan) -> str | None:
    """`network` for the call `network(x)` at a span; dotted names too."""
    match located(span):
        case (_, ast.Call(func=(ast.Name() | ast.Attribute()) as function)):
            return ast.unparse(function)
    return None


def is_of_itself(span: SourceSpan) -> bool:
    """Whether an expression says the same on both sides: `x - x`."""
    match located(span):
        case (_, ast.BinOp(left=left, right=right)):
            return ast.dump(left) == ast.dump(right)
    return False


def second_name(changed: SourceSpan) -> SourceSpan | None:
    """Where the name of what a statement changes in place is given what another name holds, the last time."""
    found = located(changed)
    if found is None:
        return None
    module, node = found
    match module.statement(node):
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name))):
            pass
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]):
            pass
        case _:
            return None
    given = [
        each
        for each in ast.walk(module.tree)
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Name) and isinstance(each.targets[0], ast.Name)
        if each.targets[0].id == name
    ]
    return module.span(max(given, key=lambda each: each.lineno)) if given else None


def alias_assignment(file: str, first: str, second: str) -> SourceSpan | None:
    """Where `first = second` stands in a file."""
    module = module_of(file)
    if module is None:
        return None
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Assign) or ast.unparse(node.value) != second:
            continue
        if first in map(ast.unparse, node.targets):
            return module.span(node)
    return None


def copied_between(span: SourceSpan | None) -> tuple[str, str] | None:
    """The two names of `first.set_...(second.get_...())`, where they differ."""
    found = located(span)
    call = None if found is None else found[1]
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
        return None
    given = call.args[0]
    if not isinstance(given, ast.Call) or not isinstance(given.func, ast.Attribute):
        return None
    first, second = ast.unparse(call.func.value), ast.unparse(given.func.value)
    return None if first == second else (first, second)


def is_looped_over(span: SourceSpan | None) -> bool:
    """Whether the list at a span is gone through on the spot, so that it matters how long it is then."""
    found = located(span)
    parent = None if found is None else found[0].parents.get(found[1])
    if isinstance(parent, (ast.comprehension, ast.For, ast.Starred)):
        return True
    return isinstance(parent, ast.Call) and last_name(parent.func) in _LOOPING


def is_kept(span: SourceSpan | None) -> bool:
    """Whether what is at a span is given a name, or an attribute, as it is."""
    found = located(span)
    parent = None if found is None else found[0].parents.get(found[1])
    return isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr))


_LOOPING = {"zip", "map", "enumerate", "list", "tuple", "build", "extend"}


def rebinds_itself(span: SourceSpan | None) -> bool:
    """Whether the statement at a span binds a name to a value made of that name: `w = w - rate * g`, `w -= ...`."""
    return any(True for _ in _rebound(span))


def rebinds_attribute(span: SourceSpan | None) -> bool:
    """The same of an attribute: `self.w = f(self.w)`."""
    return any(isinstance(target, ast.Attribute) for target in _rebound(span))


def _rebound(span: SourceSpan | None) -> Iterator[ast.expr]:
    found = located(span)
    statement = None if found is None else found[0].statement(found[1])
    if isinstance(statement, ast.AugAssign):
        yield statement.target
    elif isinstance(statement, ast.Assign):
        named = (ast.Name, ast.Attribute, ast.Subscript)
        used = {ast.unparse(each) for each in ast.walk(statement.value) if isinstance(each, named)}
        yield from (target for target in statement.targets if ast.unparse(target) in used)


def multiplication(span: SourceSpan) -> tuple[SourceSpan, int | None] | None:
    """`[made_here()] * 3` around the call at a span, and the number of times where it is written there.

    `dict.fromkeys(names, made_here())` and `itertools.repeat(made_here(), 3)` repeat as well.
    """
    found = located(span)
    if found is None or not isinstance(found[1], ast.Call):
        return None
    module, node = found
    held = module.parents.get(node)
    if isinstance(held, ast.Call):
        repeated = {"repeat": held.args[:1], "fromkeys": held.args[1:2]}.get(last_name(held.func))
        return (module.span(held), None) if repeated == [node] else None
    product = module.parents.get(held) if isinstance(held, (ast.List, ast.Tuple)) else None
    if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
        return None
    other = product.right if product.left is held else product.left
    times = other.value if isinstance(other, ast.Constant) and isinstance(other.value, int) else None
    return module.span(product), times


def statement_that_makes(
    file: str, name: str, *, function: int | None = None, owner: str | None = None
) -> SourceSpan | None:
    """The last statement that gives a name, such as `w` or `self.w`, something new and not what is there already.

    It is looked for in a file, or only in its function that begins at a line, or in its class of a name.
    """
    module = module_of(file)
    scope: ast.AST | None = None if module is None else module.tree
    if module is not None and function is not None:
        scope = module.function_at(file, function)
    elif module is not None and owner is not None:
        classes = [node for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef) and node.name == owner]
        scope = classes[-1] if classes else None
    found = None
    for node in ast.walk(scope) if scope is not None else ():
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and _makes(node.value):
            parts = [part for target in targets_of(node) for part in getattr(target, "elts", [target])]
            found = module.span(node) if module and name in map(ast.unparse, parts) else found
    return found


def _makes(value: ast.expr | None) -> bool:
    """Whether an expression calls or lists something, rather than naming what is there already."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("list", "tuple"):
        return False
    return isinstance(value, (ast.Call, ast.List, ast.ListComp, ast.Tuple, ast.Dict, ast.DictComp))


def return_of_none(file: str, first_line: int) -> SourceSpan | None:
    """The `return` of a function that has a None in it, else its last one; None where the source does not tell."""
    module = module_of(file)
    function = None if module is None else module.function_at(file, first_line)
    if module is None or function is None:
        return None
    if isinstance(function, ast.Lambda):
        return module.span(function.body)
    own = [node for node in ast.walk(function) if isinstance(node, ast.Return) and module.scope(node) is function]
    nones = {each for each in ast.walk(function) if isinstance(each, ast.Constant) and each.value is None}
    with_none = [node for node in own if nones.intersection(ast.walk(node))]
    found = (with_none or own)[-1:]
    return module.span(found[0]) if found else None
