"""Follow a whole file: first as a script, then every function and class that the script itself did not reach."""

from __future__ import annotations

import ast
from functools import partial

from whygrad.backends.api import Api
from whygrad.lint.flow.facts import Facts
from whygrad.lint.flow.imports import Imports
from whygrad.lint.flow.machine import BUDGET, SpentError
from whygrad.lint.flow.statements import Statements
from whygrad.lint.values.value import Function, Scope

_FIRST = ("build", "call", "__call__", "train_step")
_OF_OTHERS = 3_000  # expressions of another file that are looked at to learn what its names stand for


def follow(tree: ast.Module, api: Api, file: str | None = None) -> tuple[Facts, tuple[str, ...]]:
    """What happens to values in a file, as far as its text tells; and the other files that it was learned from.

    `file` is its absolute path, where files beside it may be read.
    """
    imports = None if file is None else Imports(file, api.mentions, partial(_names, api))
    machine = Statements(api, imports)
    try:
        machine.run_block(tree.body)
        _unreached(machine)
    except (SpentError, RecursionError):
        pass  # what was noted by then is noted
    machine.facts.functions = machine.defined
    return machine.facts, () if imports is None else tuple(imports.read)


def _names(api: Api, tree: ast.Module, imports: Imports) -> Scope:
    """What the names of another file stand for once its statements have been followed."""
    machine = Statements(api, imports)
    machine.steps = BUDGET - _OF_OTHERS
    try:
        machine.run_block(tree.body)
    except (SpentError, RecursionError):
        pass
    return machine.module


def _unreached(machine: Statements) -> None:
    """Call what nobody called, with arguments that are not known."""
    instances = {made.klass.where: made for made in machine.facts.objects if made.klass is not None}
    for klass in machine.classes:
        made = instances.get(klass.where)
        if made is None:
            made = machine.instance(klass, [machine.unknown(klass.where, name="*")], {}, _call_at(klass.where))
        members = [each for each in klass.members.values() if isinstance(each, Function)]
        for member in sorted(members, key=_order):
            if member.node not in machine.reached:
                made.built = made.built or getattr(member.node, "name", "") != "build"  # as it is when it is called
                machine.call(member.bound(made), [machine.unknown(member.node, name="*")], {}, _call_at(member.node))
    for function in machine.defined:  # which may grow on the way
        node = function.node
        if node not in machine.reached and not isinstance(node, ast.Lambda) and function.owner is None:
            machine.call(function, [machine.unknown(node, name="*")], {}, _call_at(node))


def _order(member: Function) -> int:
    name = getattr(member.node, "name", "")
    return _FIRST.index(name) if name in _FIRST else len(_FIRST)


def _call_at(node: ast.AST) -> ast.Call:
    call = ast.Call(func=ast.Name("_", ast.Load()), args=[], keywords=[])
    return ast.copy_location(call, node)
