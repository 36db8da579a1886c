"""Names, methods and arguments that today's versions no longer have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from whygrad.backends.api import Gone, Role
from whygrad.diagnostics import Word
from whygrad.lint.rules.check import Case, Finding, is_todays, rules
from whygrad.lint.values.questions import group_owner
from whygrad.lint.values.reach import flat
from whygrad.lint.values.value import Items, Object, Tape, Value

_VERSION = re.compile(r"version|hasattr|(?<![a-z])v[12](?![a-z])|tf_?v?[12]", re.I)
_OF_NETWORKS = (Role.NETWORK, Role.SEQUENTIAL)


@rules(keras3_api_change="WL706")
def gone(case: Case) -> Iterator[Finding]:
    """What an older version had."""
    for held in case.facts.holdings:
        role = held.owner.role
        found = case.api.gone_attributes.get((role, held.attribute)) if role is not None else None
        if found is not None and is_todays(case, held.owner):
            yield _finding(case, found, held.where)
    for use in case.facts.uses:
        found = _gone(case, use.dotted, use.owner, use.method) if use.call is None or use.owner is not None else None
        if found is not None and not _is_guarded(case, use.where):
            yield _finding(case, found, use.where)
        if use.call is not None and use.owner is None:
            yield from _arguments(case, use.dotted, use.call)
        if use.call is not None and use.method == "compile" and isinstance(use.owner, Object):
            third = use.arguments[2] if len(use.arguments) > 2 else None
            if isinstance(third, Items) and is_todays(case, use.owner):
                yield _finding(case, _THIRD, use.call.args[2])
        if use.call is not None and use.method == "watch" and isinstance(use.owner, Tape):
            yield from _watched(case, use.call, use.arguments)


_THIRD = Gone("the third argument of `compile` is no longer the metrics", "name them: `metrics=[...]`")


def _gone(case: Case, dotted: str, owner: object, method: str) -> Gone | None:
    if not isinstance(owner, Object):
        return case.api.gone.get(dotted) if owner is None else None
    if owner.klass is not None or not owner.dotted.startswith(case.api.today):
        return None
    role = Role.NETWORK if owner.role in _OF_NETWORKS else owner.role
    return None if role is None else case.api.gone_methods.get((role, method))


def _finding(case: Case, found: Gone, where: ast.AST) -> Finding:
    return Finding(
        rule="keras3-api-change",
        message=found.says,
        primary=case.label(where, "of an older version"),
        help=found.instead,
        rename=found.rename,
    )


def _arguments(case: Case, dotted: str, call: ast.Call) -> Iterator[Finding]:
    home = dotted.rpartition(".")[0]
    for word in call.keywords:
        if word.arg is not None:
            found = case.api.gone_arguments.get((dotted, word.arg)) or case.api.gone_arguments.get((home, word.arg))
            if found is not None and not _is_guarded(case, call):
                yield _finding(case, found, word.value)


def _watched(case: Case, call: ast.Call, watched: list[Value]) -> Iterator[Finding]:
    if ".value" in ast.unparse(call):
        return
    for owner in (group_owner(each) for value in watched for each in flat(value)):
        if isinstance(owner, Object) and owner.role is not Role.MODULE and is_todays(case, owner):
            yield Finding(
                rule="keras3-api-change",
                message=f"the variables of {Word.NETWORK_LIBRARY} 3 are not tensors, and the tape cannot watch them",
                primary=case.label(call, "raises"),
                help="watch what is inside: `[v.value for v in ...]`",
            )


def _is_guarded(case: Case, where: ast.AST) -> bool:
    """Whether the code asks first which version it has."""
    for parent in case.module.ancestors(where):
        if isinstance(parent, ast.Try):
            return True
        if isinstance(parent, (ast.If, ast.IfExp)) and _asks_for_version(parent.test):
            return True
        if any(_VERSION.search(ast.unparse(each)) for each in getattr(parent, "decorator_list", ())):
            return True  # `@run_v1_only`
    name = ".".join(ast.unparse(where).split(".")[:2])
    return any(_leaves_without_it(each, name) for each in case.module.before(where))


def _asks_for_version(test: ast.expr) -> bool:
    written = ast.unparse(test)
    return _VERSION.search(written) is not None or "eager" in written.lower()


def _leaves_without_it(before: ast.stmt, name: str) -> bool:
    """`try: tf.contrib` with `except AttributeError: return`, or `if version < 2: return`."""
    body: list[ast.stmt] = []
    if isinstance(before, ast.Try) and any(name in ast.unparse(each) for each in before.body):
        body = [each for handler in before.handlers for each in handler.body]
    elif isinstance(before, ast.If) and _asks_for_version(before.test):
        body = before.body
    return any(isinstance(each, (ast.Return, ast.Raise)) for each in body)
