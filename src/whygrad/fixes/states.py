"""Values in the wrong kind of thing: Python numbers in traced code, tensors that are written and read back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Edit, Fix, Word
from whygrad.fixes import rewriting as rw
from whygrad.fixes.variables import in_place
from whygrad.source import SourceSpan
from whygrad.source.module import Module, last_name, targets_of

_WRITES: Final = {"assign": "{new} = ", "assign_add": "{new} = {old} + ", "assign_sub": "{new} = {old} - "}
_SCATTERS: Final = {"scatter_nd_update": Word.SCATTER_UPDATE, "scatter_nd_add": Word.SCATTER_ADD}
_TENSORS: Final = {"min": Word.MINIMUM, "max": Word.MAXIMUM, "constant": Word.TO_DENSE}  # of what is a variable now
_DRAWS: Final = {"normal": Word.RANDOM_NORMAL, "uniform": Word.RANDOM_UNIFORM, "random": Word.RANDOM_UNIFORM}
_OPTIONS: Final = (("loc", "low"), ("scale", "high"))


@rw.on_node
def in_variable(module: Module, _: ast.AST, name: str) -> Iterator[Fix]:
    """A Python number that changes is held by a variable: made where it is first set, and assigned to."""
    key = _key(name)
    nodes = sorted((n for n in ast.walk(module.tree) if hasattr(n, "lineno")), key=lambda n: n.lineno)
    assigned = [n for n in nodes if isinstance(n, (ast.Assign, ast.AugAssign))]
    sets = [n for n in assigned if key in {_key(ast.unparse(each)) for each in targets_of(n)}]
    given = [v for n in nodes for v in _given(n, key)] if not any(_begins(module, each) for each in sets) else []
    first = given[0] if given else sets[0].value if sets and isinstance(sets[0], ast.Assign) else None
    texts = {each: in_place(module, each) for each in (sets if given else sets[1:])}
    if first is None or not texts or not all(rw.has_own_lines(module, each) and texts[each] for each in texts):
        return
    taking = [n for n in nodes if isinstance(n, ast.Call) and last_name(n.func) in _TENSORS]
    taking = [n for n in taking if key in {_key(ast.unparse(each)) for arg in n.args for each in ast.walk(arg)}]
    edits = [rw.replaced(module, each, text or "") for each, text in texts.items()]
    edits += [rw.replaced(module, each.func, f"{_TENSORS[last_name(each.func)]}") for each in taking]
    whole = isinstance(first, ast.Constant) and not isinstance(first.value, float)
    for dtype in ("", f", dtype={Word.FLOAT32}") if whole else (f", dtype={Word.FLOAT32}",):
        made = rw.replaced(module, first, f"{Word.VARIABLE}({rw.text_at(module, first)}, trainable=False{dtype})")
        yield Fix(title=f"keep `{name}` in a variable", edits=(made, *edits))


def _key(name: str) -> str:
    """What a name is known by in other objects and functions: the last attribute, or the whole."""
    return name if "[" in name else name.rpartition(".")[2]


def _given(node: ast.AST, key: str) -> Iterator[ast.expr]:
    """The value under a key of a dictionary, or of an argument of that name."""
    match node:
        case ast.Dict(keys=keys, values=values):
            yield from (v for k, v in zip(keys, values, strict=True) if k and key.endswith(f"[{ast.unparse(k)}]"))
        case ast.keyword(arg=name, value=value) if name == key:
            yield value


def _begins(module: Module, statement: ast.Assign | ast.AugAssign) -> bool:
    """Whether a statement sets something for the first time: a plain name, or an attribute where its object is made."""
    is_name = isinstance(targets_of(statement)[0], ast.Name)
    return is_name or getattr(module.scope(statement), "name", "") == "__init__"


@rw.on_call
def drawn_anew(module: Module, call: ast.Call) -> Iterator[Fix]:
    """Random numbers of NumPy or Python are drawn by the framework, in every step."""
    word = _DRAWS.get(last_name(call.func))
    if word is None:
        return
    plain = last_name(call.func) == "random"
    size = rw.argument(call, 0 if plain else 2, "size")
    shape = "()" if size is None else rw.text_at(module, size)
    if isinstance(size, ast.Attribute) and size.attr == "shape":
        shape = f"{Word.SHAPE}({rw.text_at(module, size.value)})"
    options = [] if plain else [rw.argument(call, place, *names) for place, names in enumerate(_OPTIONS)]
    text = ", ".join([shape, *(rw.text_at(module, each) for each in options if each is not None)])
    outer = module.parents.get(module.parents.get(call, call))
    cast = isinstance(outer, ast.Call) and last_name(outer.func) == "astype" and "32" in ast.unparse(outer.args[0])
    node = outer if cast and isinstance(outer, ast.Call) else call
    yield Fix(title="draw with the framework, in every step", edits=(rw.replaced(module, node, f"{word}({text})"),))


@rw.on_call
def unwrapped(module: Module, call: ast.Call) -> Iterator[Fix]:
    """`Variable(x)` becomes `x`."""
    if last_name(call.func).lower() == "variable" and call.args:
        text = rw.operand_text(module, call.args[0])
        yield Fix(title=f"use `{text}` itself", edits=(rw.replaced(module, call, text),))


@rw.on_call
def carried(module: Module, written: ast.Call) -> Iterator[Fix]:
    """What is written into a variable and read back in the same function is carried on as a tensor, and kept too."""
    if not isinstance(written.func, ast.Attribute):
        return
    held = written.func.value
    scope, owner = module.scope(held), ast.unparse(held)
    inside = [n for n in ast.walk(scope) if isinstance(n, (ast.expr, ast.stmt)) and module.scope(n) is scope]
    writes = [call for n in inside if (call := _write(n, owner)) is not None]
    statements = [each for call in writes if (each := module.statement(call)) and rw.has_own_lines(module, each)]
    if written not in writes or len(statements) < len(writes):
        return
    loop = module.loops_around(writes[0])[-1:]  # the outermost
    start = loop[0] if loop else statements[0]
    bound = isinstance(scope, ast.Module) and owner.isidentifier()
    new = owner if bound else f"new_{last_name(held)}"
    edits = [
        e for call in writes for e in _carried(module, call, new, owner if call is writes[0] and not loop else new)
    ]
    if not bound:
        heads = {getattr(call.func, "value", None) for call in writes}
        reads = [n for n in inside if isinstance(getattr(n, "ctx", None), ast.Load) and n not in heads]
        reads = [n for n in reads if n.lineno >= start.lineno and ast.unparse(n) == owner]
        reads = reads if loop else [n for n in reads if n not in set(ast.walk(start))]
        if not reads:  # it is read elsewhere
            return
        edits += [rw.replaced(module, _whole_read(module, n), new) for n in reads if isinstance(n, ast.expr)]
        edits += [rw.inserted_before(module, each, f"{new} = {Word.TO_DENSE}({owner})") for each in loop]
        edits.append(rw.inserted_after(module, loop[0] if loop else statements[-1], f"{owner}.{Word.ASSIGN}({new})"))
    yield Fix(title=f"carry what is written into `{owner}` on as a tensor", edits=tuple(edits))


def _whole_read(module: Module, node: ast.expr) -> ast.expr:
    """`v.value`, `v.value()` and `v.read_value()` around the name of a variable, too."""
    parent = module.parents.get(node)
    if not isinstance(parent, ast.Attribute) or parent.attr not in ("value", "read_value"):
        return node
    call = module.parents.get(parent)
    return call if isinstance(call, ast.Call) and call.func is parent else parent


def _write(node: ast.AST, owner: str) -> ast.Call | None:
    """The call of a statement that writes into a variable and does nothing else."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=held, attr=name), args=[_, *_]) as call):
            return call if name in (*_WRITES, *_SCATTERS) and ast.unparse(held) == owner else None
    return None


def _carried(module: Module, call: ast.Call, new: str, old: str) -> Iterator[Edit]:
    """`v.assign_add(x)` becomes `new = old + x`."""
    whole, value, how = module.span(call), module.span(call.args[0]), last_name(call.func)
    head = SourceSpan(whole.file, whole.line, whole.column, value.line, value.column)
    if how in _SCATTERS:
        yield Edit(head, f"{new} = {_SCATTERS[how]}({old}, ")
    else:
        yield Edit(head, _WRITES[how].format(new=new, old=old))
        yield Edit(SourceSpan(whole.file, value.last_line, value.end_column, whole.end_line, whole.end_column), "")
