"""Values in the wrong kind of thing: Python numbers in traced code, tensors that are written and read back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Edit, Fix, Word
from whygrad.fixes.rewriting import (
    argument,
    call_at,
    has_own_lines,
    inserted_after,
    inserted_before,
    operand_text,
    replaced,
    text_at,
)
from whygrad.fixes.variables import in_place
from whygrad.source import SourceSpan
from whygrad.source.module import LOOPS, Module, last_name, located

_WRITES: Final = {"assign": "{new} = ", "assign_add": "{new} = {old} + ", "assign_sub": "{new} = {old} - "}
_SCATTERS: Final = {"scatter_nd_update": Word.SCATTER_UPDATE, "scatter_nd_add": Word.SCATTER_ADD}
_TENSORS: Final = {"min": Word.MINIMUM, "max": Word.MAXIMUM, "constant": Word.TO_DENSE}  # of what is a variable now
_DRAWS: Final = {"normal": Word.RANDOM_NORMAL, "uniform": Word.RANDOM_UNIFORM, "random": Word.RANDOM_UNIFORM}
_OPTIONS: Final = (("loc", "low"), ("scale", "high"))


def in_variable(at: SourceSpan | None, name: str) -> Iterator[Fix]:
    """A Python number that changes is held by a variable: made where it is first set, and assigned to."""
    found = located(at)
    if found is None:
        return
    module, key = found[0], _key(name)
    nodes = sorted((n for n in ast.walk(module.tree) if hasattr(n, "lineno")), key=lambda n: n.lineno)
    sets = [n for n in nodes if isinstance(n, (ast.Assign, ast.AugAssign)) and key in map(_key, _targets(n))]
    given = [v for n in nodes for v in _given(n, key)] if not any(_begins(module, each) for each in sets) else []
    first = given[0] if given else sets[0].value if sets and isinstance(sets[0], ast.Assign) else None
    texts = {each: in_place(module, each) for each in (sets if given else sets[1:])}
    if first is None or not texts or not all(has_own_lines(module, each) and texts[each] for each in texts):
        return
    taking = [n for n in nodes if isinstance(n, ast.Call) and last_name(n.func) in _TENSORS]
    taking = [n for n in taking if key in {_key(ast.unparse(each)) for arg in n.args for each in ast.walk(arg)}]
    edits = [replaced(module, each, text or "") for each, text in texts.items()]
    edits += [replaced(module, each.func, f"{_TENSORS[last_name(each.func)]}") for each in taking]
    whole = isinstance(first, ast.Constant) and not isinstance(first.value, float)
    for dtype in ("", f", dtype={Word.FLOAT32}") if whole else (f", dtype={Word.FLOAT32}",):
        made = replaced(module, first, f"{Word.VARIABLE}({text_at(module, first)}, trainable=False{dtype})")
        yield Fix(title=f"keep `{name}` in a variable", edits=(made, *edits))


def _key(name: str) -> str:
    """What a name is known by in other objects and functions: the last attribute, or the whole."""
    return name if "[" in name else name.rpartition(".")[2]


def _targets(statement: ast.Assign | ast.AugAssign) -> list[str]:
    return [ast.unparse(t) for t in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])]


def _given(node: ast.AST, key: str) -> Iterator[ast.expr]:
    """The value under a key of a dictionary, or of an argument of that name."""
    match node:
        case ast.Dict(keys=keys, values=values):
            yield from (v for k, v in zip(keys, values, strict=True) if k and key.endswith(f"[{ast.unparse(k)}]"))
        case ast.keyword(arg=name, value=value) if name == key:
            yield value


def _begins(module: Module, statement: ast.Assign | ast.AugAssign) -> bool:
    """Whether a statement sets something for the first time: a plain name, or an attribute where its object is made."""
    names = _targets(statement)
    return names[0].isidentifier() or getattr(module.scope(statement), "name", "") == "__init__"


def drawn_anew(at: SourceSpan | None) -> Iterator[Fix]:
    """Random numbers of NumPy or Python are drawn by the framework, in every step."""
    found = call_at(at)
    word = None if found is None else _DRAWS.get(last_name(found[1].func))
    if found is None or word is None:
        return
    module, call = found
    plain = last_name(call.func) == "random"
    size = argument(call, 0 if plain else 2, "size")
    shape = "()" if size is None else text_at(module, size)
    if isinstance(size, ast.Attribute) and size.attr == "shape":
        shape = f"{Word.SHAPE}({text_at(module, size.value)})"
    options = [] if plain else [argument(call, place, *names) for place, names in enumerate(_OPTIONS)]
    text = ", ".join([shape, *(text_at(module, each) for each in options if each is not None)])
    outer = module.parents.get(module.parents.get(call, call))
    cast = isinstance(outer, ast.Call) and last_name(outer.func) == "astype" and "32" in ast.unparse(outer.args[0])
    node = outer if cast and isinstance(outer, ast.Call) else call
    yield Fix(title="draw with the framework, in every step", edits=(replaced(module, node, f"{word}({text})"),))


def unwrapped(at: SourceSpan | None) -> Iterator[Fix]:
    """`Variable(x)` becomes `x`."""
    found = call_at(at)
    if found is not None and last_name(found[1].func).lower() == "variable" and found[1].args:
        text = operand_text(found[0], found[1].args[0])
        yield Fix(title=f"use `{text}` itself", edits=(replaced(found[0], found[1], text),))


def carried(written: SourceSpan | None) -> Iterator[Fix]:
    """What is written into a variable and read back in the same function is carried on as a tensor, and kept too."""
    found = call_at(written)
    if found is None or not isinstance(found[1].func, ast.Attribute):
        return
    module, held = found[0], found[1].func.value
    scope, owner = module.scope(held), ast.unparse(held)
    inside = [n for n in ast.walk(scope) if isinstance(n, (ast.expr, ast.stmt)) and module.scope(n) is scope]
    writes = [call for n in inside if (call := _write(n, owner)) is not None]
    statements = [each for call in writes if (each := module.statement(call)) and has_own_lines(module, each)]
    if found[1] not in writes or len(statements) < len(writes):
        return
    loop = [each for each in module.ancestors(writes[0]) if isinstance(each, LOOPS) and module.scope(each) is scope][
        -1:
    ]
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
        edits += [replaced(module, n, new) for n in reads if isinstance(n, ast.expr)]
        edits += [inserted_before(module, each, f"{new} = {Word.TO_DENSE}({owner})") for each in loop]
        edits.append(inserted_after(module, loop[0] if loop else statements[-1], f"{owner}.{Word.ASSIGN}({new})"))
    yield Fix(title=f"carry what is written into `{owner}` on as a tensor", edits=tuple(edits))


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
