"""What an object makes at the wrong time: values computed once for all, layers made in every call, results not used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from whygrad.diagnostics import Fix
from whygrad.fixes import rewriting as rw
from whygrad.source.module import Module, last_name, loads, parameters, plain_names


@rw.on_statement
def recomputed(module: Module, statement: ast.stmt) -> Iterator[Fix]:
    """`self.x = f(self.w)`, which runs once, becomes a property: it is computed whenever it is read."""
    method, owner = module.scope(statement), module.around(statement, ast.ClassDef)
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value):
            assigned = [n for n in ast.walk(owner or statement) if isinstance(n, ast.Assign)]
            stores = [n for n in assigned if [ast.unparse(each) for each in n.targets] == [f"self.{name}"]]
        case _:
            return
    given = (parameters(method) - {"self"}) & plain_names(value)
    same = {ast.unparse(each.value) for each in stores} == {ast.unparse(value)}
    if owner is None or given or not same or not all(rw.has_own_lines(module, each) for each in stores):
        return
    own = [n for n in ast.walk(method) if isinstance(n, ast.Name) and n not in set(ast.walk(value))]
    kept = {n.id for n in own if isinstance(n.ctx, ast.Store)} & plain_names(value)
    text = rw.text_at(module, value)
    for each in kept:
        text = re.sub(rf"(?<![\w.]){each}\b", f"self.{each}", text)
    edits = [rw.deleted(module, each) for each in stores]
    edits += [rw.replaced(module, n, f"self.{n.id}") for n in own if n.id in kept]
    head = f"@property\ndef {name}(self):\n{rw.INDENT}return {text}\n"
    if isinstance(method, ast.FunctionDef) and len(method.body) > 1:
        yield Fix(
            title=f"compute `self.{name}` whenever it is read", edits=(rw.inserted_before(module, method, head), *edits)
        )


@rw.on_call
def made_in_init(module: Module, call: ast.Call) -> Iterator[Fix]:
    """A layer that a method makes in every call is made where its owner is."""
    method, owner, statement = module.scope(call), module.around(call, ast.ClassDef), module.statement(call)
    methods = [] if owner is None else [each for each in owner.body if isinstance(each, ast.FunctionDef)]
    init = next((each for each in methods if each.name == "__init__"), None)
    if owner is None or init is None or method is init or statement is None or method not in methods:
        return
    local = plain_names(method, ast.Store) | parameters(method)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name), *_], value=value) if value is call:
            bound = True
        case _:
            bound, name = False, last_name(call.func).lower()
    if plain_names(call) & local - {"self"} or f"self.{name}" in rw.text_at(module, owner):
        return
    edits = [rw.inserted_after(module, init.body[-1], f"self.{name} = {rw.text_at(module, call)}")]
    if bound and rw.has_own_lines(module, statement):
        edits.append(rw.deleted(module, statement))
        edits += [rw.replaced(module, n, f"self.{name}") for n in loads(method, name)]
    else:
        edits.append(rw.replaced(module, call, f"self.{name}"))
    yield Fix(title=f"make `{last_name(call.func)}` once, in `__init__`", edits=tuple(edits))


@rw.on_call
def result_used(module: Module, call: ast.Call) -> Iterator[Fix]:
    """What a call gives is handed on to the statement that took the input of the call once more."""
    statement = module.statement(call)
    if not call.args or not isinstance(call.args[0], ast.Name):
        return
    given = call.args[0].id
    if isinstance(statement, ast.Expr) and statement.value is call:
        edit = rw.replaced(module, statement, f"{given} = {rw.text_at(module, statement)}")
        yield Fix(title=f"keep what `{rw.text_at(module, statement)}` gives", edits=(edit,))
    elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        scope, name, end = module.scope(statement), statement.targets[0].id, statement.end_lineno or 0
        later = [n for n in loads(scope, given) if n.lineno > end]
        taken = min((n.lineno for n in later), default=0)
        first = [n for n in later if module.statement(n) is module.statement(min(later, key=lambda n: n.lineno))]
        handed = [n for n in first if isinstance(module.parents.get(n), ast.Call)] or first
        if first and not any(end < n.lineno <= taken for n in loads(scope, name)):
            edits = tuple(rw.replaced(module, n, name) for n in handed)
            yield Fix(title=f"pass `{name}` on in place of `{given}`", edits=edits)
