"""Variables: changed in place, made with another type, made so that their owner keeps track of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from whygrad.diagnostics import Edit, Fix, FixSafety, Word
from whygrad.fixes import rewriting as rw
from whygrad.source import SourceSpan
from whygrad.source.module import Module, last_name, module_of

_IN_PLACE: Final = {ast.Sub: Word.ASSIGN_SUB, ast.Add: Word.ASSIGN_ADD}


@rw.on_statement
def assigned_in_place(module: Module, statement: ast.stmt) -> Iterator[Fix]:
    """`w = w - step` becomes `w.assign(w - step)`; so do `w -= step`, and lists of new values."""
    text = in_place(module, statement) if rw.has_own_lines(module, statement) else None
    if text is not None:
        title = "change the variable in place" if "for " not in text else "change the variables in place"
        yield Fix(title=title, edits=(rw.replaced(module, statement, text),), safety=FixSafety.SAFE)


def in_place(module: Module, statement: ast.stmt) -> str | None:
    """A statement that binds a name to a new value, as one that changes what the name holds."""
    indent = rw.indent_of(module, statement)
    match statement:
        case ast.AugAssign(target=target, op=op, value=value) if type(op) in _IN_PLACE:
            return f"{rw.text_at(module, target)}.{_IN_PLACE[type(op)]}({rw.text_at(module, value)})"
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            lines = [_assign(module, target, value) for target, value in zip(targets, values, strict=True)]
            return f"\n{indent}".join(lines)
        case ast.Assign(
            targets=[ast.Name() | ast.Attribute()],
            value=ast.ListComp(elt=new, generators=[ast.comprehension(target=each, iter=what, ifs=[])]),
        ):
            first = each.elts[0] if isinstance(each, ast.Tuple) else each
            head = f"for {rw.text_at(module, each).strip('()')} in {rw.text_at(module, what)}:"
            return f"{head}\n{indent}{rw.INDENT}{_assign(module, first, new)}"
        case ast.Assign(targets=[ast.Name() | ast.Attribute() | ast.Subscript() as target], value=value):
            return _assign(module, target, value)
    return None


def _assign(module: Module, target: ast.expr, value: ast.expr) -> str:
    return f"{rw.text_at(module, target)}.{Word.ASSIGN}({rw.text_at(module, value)})"


def floating(made: Iterable[SourceSpan | None]) -> Iterator[Fix]:
    """Variables of integers become variables of floating-point numbers, all of them together."""
    places = [list(_floating(span)) for span in dict.fromkeys(made)]
    if places and all(places):
        what = "it a floating-point variable" if len(places) == 1 else "them floating-point variables"
        yield Fix(title=f"make {what}", edits=tuple(each[0] for each in places))
        if any(len(each) > 1 for each in places):
            yield Fix(title=f"make {what}", edits=tuple(each[-1] for each in places))


@rw.on_call
def _floating(module: Module, call: ast.Call) -> Iterator[Edit]:
    """The edit that makes a variable a floating-point one; and another way, where there is one."""
    dtype = rw.argument(call, None, "dtype")
    value = rw.argument(call, 0, "initial_value", "initializer")
    if isinstance(dtype, ast.Constant):
        yield rw.replaced(module, dtype, '"float32"')
    elif dtype is not None:
        yield rw.replaced(module, dtype, f"{Word.FLOAT32}")
    elif isinstance(value, ast.Constant) and isinstance(value.value, int):
        yield rw.replaced(module, value, f"{rw.text_at(module, value)}.0")
    else:
        yield rw.with_argument(module, call, f"dtype={Word.FLOAT32}")
        if value is not None:
            yield rw.replaced(module, value, f"{Word.CAST}({rw.text_at(module, value)}, {Word.FLOAT32})")


@rw.on_call
def tracked(module: Module, call: ast.Call) -> Iterator[Fix]:
    """A variable of a class that its framework keeps no track of is made as one that it does."""
    owner = module.around(call, ast.ClassDef)
    if owner is None:
        return
    edits = list[Edit]()
    for each in ast.walk(owner):
        if isinstance(each, ast.Call) and ast.unparse(each.func) == ast.unparse(call.func):
            edits += _tracked(module, each) if "variable" in last_name(each.func).lower() else ()
    base = _rebased(module, owner)
    title = f"make it a variable that `{owner.name}` keeps track of"
    if edits and not base:
        yield Fix(title=title, edits=tuple(edits))
    if base:
        yield Fix(title=f"make `{owner.name}` a layer, which keeps track of its variables", edits=(*base, *edits))


def _tracked(module: Module, call: ast.Call) -> Iterator[Edit]:
    yield rw.replaced(module, call.func, f"{Word.NETWORK_VARIABLE}")
    for keyword in call.keywords:
        if keyword.arg == "initial_value":
            line, start = keyword.lineno, keyword.col_offset
            yield Edit(module.stretch(line, start, line, start + len(keyword.arg)), "initializer")


def _rebased(module: Module, owner: ast.ClassDef) -> list[Edit]:
    """A class of no framework's, or of one that knows no layers, is derived from a layer."""
    plain = not owner.bases and not owner.keywords
    module_only = [base for base in owner.bases if last_name(base) == "Module"]
    if not plain and not module_only:
        return []
    edits = [rw.replaced(module, base, f"{Word.LAYER}") for base in module_only]
    if plain:
        line = owner.lineno
        column = owner.col_offset + len("class ") + len(owner.name)
        end = column + (2 if rw.text_at(module, owner)[len("class ") + len(owner.name) :].startswith("()") else 0)
        edits.append(Edit(module.stretch(line, column, line, end), f"({Word.LAYER})"))
    start = next((each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    if start is not None and "super().__init__" not in rw.text_at(module, start):
        edits.append(rw.inserted_before(module, start.body[0], "super().__init__()"))
    return edits


def rebased(file: str, owner: str, word: Word) -> Iterator[Fix]:
    """A class that is derived from the framework's plainest one is derived from another."""
    module = module_of(file)
    nodes = [] if module is None else list(ast.walk(module.tree))
    classes = [node for node in nodes if isinstance(node, ast.ClassDef) and node.name == owner]
    if module is None or len(classes) != 1:
        return
    edits = tuple(rw.replaced(module, base, f"{word}") for base in classes[0].bases if last_name(base) == "Module")
    if edits:
        yield Fix(title=f"derive `{owner}` from `{word}`", edits=edits)


@rw.on_call
def thawed(module: Module, call: ast.Call) -> Iterator[Fix]:
    """A variable that was made with `trainable=False` is made without."""
    flag = rw.argument(call, None, "trainable")
    if isinstance(flag, ast.Constant) and flag.value is False:
        yield Fix(title="make it trainable", edits=(rw.replaced(module, flag, "True"),))
