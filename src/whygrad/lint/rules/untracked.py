"""Variables that a network uses but does not know, so that no list of its has them (WL201)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.backends.api import Does
from whygrad.diagnostics import Severity, Word
from whygrad.lint.rules.check import NETWORKS, Case, Finding, is_todays, rules
from whygrad.lint.values.reach import behind, flat, related
from whygrad.lint.values.value import PLAIN, Kind, Klass, Node, Object, Value

_OWN_LIST = ("trainable_variables", "trainable_weights", "variables", "weights", "_trainable_variables")


@rules(untracked_variable="WL201")
def plain_attributes(case: Case) -> Iterator[Finding]:
    """Plain variables that a layer or network of the user's holds: its lists do not have them."""
    asked = {id(each) for request in case.facts.requests for each in request.sources}
    written = {id(write.variable) for write in case.facts.writes}
    seen: set[int] = set()
    for made in case.facts.objects:
        if made.klass is None or made.role not in NETWORKS or not is_todays(case, made):
            continue
        if keeps_its_own_list(made.klass):
            continue
        trained = _is_trained(case, made)
        for attribute, held in made.attributes.items():
            for each in _options(held):
                if not _is_plain_variable(each) or id(each) in asked | written or id(each.where) in seen:
                    continue
                if not _is_read(case, each) or not isinstance(each, Node) or not _is_initial(each.of):
                    continue
                seen.add(id(each.where))
                assert each.where is not None
                yield Finding(
                    rule="untracked-variable",
                    message=f"`{made.klass.name}` does not know its variable `{attribute}`, so no optimizer updates it",
                    primary=case.label(
                        each.where, f"a plain `{Word.VARIABLE}` is not tracked by {Word.NETWORK_LIBRARY} 3"
                    ),
                    variables=(attribute,),
                    help=f"make it with `self.{Word.ADD_VARIABLE}(...)`, or as `{Word.NETWORK_VARIABLE}(...)`",
                    certain=trained,
                    severity=Severity.ERROR if trained else Severity.WARNING,
                )


def _options(held: Value) -> Iterator[Value]:
    for each in flat(held):
        if isinstance(each, Node) and each.does is Does.EITHER:
            yield from each.inputs
        else:
            yield each


def keeps_its_own_list(klass: Klass) -> bool:
    """Whether a class says itself what its variables are, or has them tracked by hand."""
    assert klass.where is not None
    names = (each.attr for each in ast.walk(klass.where) if isinstance(each, ast.Attribute))
    return any(klass.find(name) is not None for name in _OWN_LIST) or any("_track" in name for name in names)


def _is_plain_variable(value: Value) -> bool:
    return (
        isinstance(value, Node)
        and value.kind is Kind.VARIABLE
        and value.name == PLAIN
        and (value.trainable is True and value.dtype != "int" and isinstance(value.where, ast.expr))
    )


def _is_initial(value: Value | None) -> bool:
    """Whether a variable begins with what weights begin with, not with data."""
    if value is None:
        return True
    nodes = [each for each in behind(value).nodes.values() if each.does is not Does.EITHER]
    return all(each.kind not in (Kind.ARRAY, Kind.VARIABLE) and not _is_data(each) for each in nodes)


def _is_data(node: Node) -> bool:
    return node.kind is Kind.UNKNOWN and node.callee is None


def _is_read(case: Case, variable: Value) -> bool:
    return any(any(each is variable for value in node.inputs for each in _options(value)) for node in case.facts.nodes)


def _is_trained(case: Case, made: Object) -> bool:
    wanted = (each for request in case.facts.requests for each in request.sources)
    return any(isinstance(each, Node) and each.group is not None and related(each.group.owner, made) for each in wanted)
