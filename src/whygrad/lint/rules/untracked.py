"""Variables that a network uses but does not know, so that no list of its has them (WL201)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.backends.api import Does
from whygrad.diagnostics import Severity, Word
from whygrad.lint.rules.check import NETWORKS, Case, Finding, is_todays, rules
from whygrad.lint.values.questions import options
from whygrad.lint.values.reach import behind, flat, is_listed
from whygrad.lint.values.value import PLAIN, Kind, Klass, Node, Value

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
        trained = any(is_listed(request.sources, made) for request in case.facts.requests)
        for attribute, held in made.attributes.items():
            for each in _options(held):
                if not isinstance(each, Node) or id(each) in asked | written or id(each.where) in seen:
                    continue
                if not _is_plain_variable(each) or not _is_read(case, each) or not _is_initial(each.of):
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
    return (one for each in flat(held) for one in options(each))


def keeps_its_own_list(klass: Klass) -> bool:
    """Whether a class says itself what its variables are, or has them tracked by hand."""
    names = (each.attr for each in ast.walk(klass.where) if isinstance(each, ast.Attribute))
    return any(klass.find(name) is not None for name in _OWN_LIST) or any("_track" in name for name in names)


def _is_plain_variable(node: Node) -> bool:
    is_plain = node.kind is Kind.VARIABLE and node.name == PLAIN and node.dtype != "int"
    return is_plain and node.trainable is True and isinstance(node.where, ast.expr)


def _is_initial(value: Value | None) -> bool:
    """Whether a variable begins with what weights begin with, not with data."""
    if value is None:
        return True
    nodes = [each for each in behind(value).nodes.values() if each.does is not Does.EITHER]
    given = (each.kind is Kind.UNKNOWN and each.callee is None for each in nodes)
    return all(each.kind not in (Kind.ARRAY, Kind.VARIABLE) for each in nodes) and not any(given)


def _is_read(case: Case, variable: Value) -> bool:
    return any(any(each is variable for value in node.inputs for each in _options(value)) for node in case.facts.nodes)
