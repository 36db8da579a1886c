"""Variables, networks and optimizers that are made, read or frozen at the wrong place (the family WL2)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from whygrad.backends.api import Role
from whygrad.diagnostics import Severity
from whygrad.lint.rules.check import NETWORKS, Case, Finding, rules
from whygrad.lint.values.questions import is_weightless
from whygrad.lint.values.reach import flat, related
from whygrad.lint.values.value import Literal, Node, Object

_ANOTHER = re.compile(
    r"target|teacher|\bold|old_|_old|ema|twin|copy|slow|frozen|backup|momentum|second|reference|prev", re.I
)


@rules(unbuilt_model="WL202")
def read_before_built(case: Case) -> Iterator[Finding]:
    """Lists of variables that were read before there were any, and are used all the same."""
    early = [each for each in case.facts.readings if not each.group.built and each.group.which != "fixed"]
    if not early:
        return
    used: set[int] = set()
    values = [each for request in case.facts.requests for each in request.sources]
    values += [each for update in case.facts.updates for pair in update.pairs or () for each in pair]
    values += [
        each for use in case.facts.uses for given in use.arguments for each in flat(given) if use.method == "build"
    ]
    for node in case.facts.nodes:
        if node.does is not None:
            values += [each for value in node.inputs for each in flat(value)]
    for value in values:
        if isinstance(value, Node) and value.group is not None:
            used.add(id(value.where))
        elif isinstance(value, Node) and isinstance(value.of, Node):
            used.add(id(value.of.where))
    for reading in early:
        owner = reading.group.owner
        if id(reading.where) in used and isinstance(owner, Object) and isinstance(reading.where, ast.expr):
            name = ast.unparse(reading.where)
            yield Finding(
                rule="unbuilt-model",
                message=f"`{name}` is read before the model is built, so variables are missing from it",
                primary=case.label(reading.where, "at this point the layers have no variables yet"),
                help="give the model its input shape, or call it once, before this list is read",
            )


@rules(aliased_network="WL209")
def aliased(case: Case) -> Iterator[Finding]:
    """One network under two names, or many times in one list, where several were meant."""
    for items in case.facts.lists:
        held = [each for each in items.items if isinstance(each, Object) and each.role in NETWORKS]
        if items.repeated and held and isinstance(items.where, ast.expr) and not is_weightless(held[0], case.api):
            yield Finding(
                rule="aliased-network",
                message="this list holds one network several times, not several networks",
                primary=case.label(items.where, "the same object in every place"),
                help="make each one separately: `[make() for _ in range(n)]`",
                severity=Severity.WARNING,
            )
    for node in dict.fromkeys(case.facts.aliases):
        target = node.targets[0]
        name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
        written = ast.unparse(node.value)
        if _ANOTHER.search(name) and not _ANOTHER.search(written) and _holds_network(case, node.value):
            yield Finding(
                rule="aliased-network",
                message=f"`{name}` is another name for `{written}`, not a network of its own",
                primary=case.label(node, "training one changes the other"),
                help="copy the network, and its weights after that: `clone_model`, then `set_weights`",
                severity=Severity.WARNING,
                certain=False,
            )


def _holds_network(case: Case, value: ast.expr) -> bool:
    """Whether a name holds a network that was made here."""
    networks = (made.where for made in case.facts.objects if made.role in (Role.SEQUENTIAL, Role.NETWORK))
    return any(isinstance(where, ast.expr) and case.holder(where) == ast.unparse(value) for where in networks)


@rules(frozen_by_flag="WL208")
def frozen_too_late(case: Case) -> Iterator[Finding]:
    """A list of variables that was read before a flag changed what belongs into it."""
    for held in case.facts.holdings:
        if held.attribute != "trainable" or not isinstance(held.value, Literal) or held.value.value is not False:
            continue
        for reading in case.facts.readings:
            early = reading.time <= held.time and reading.group.which == "trainable"
            if not early or not related(reading.group.owner, held.owner):
                continue
            used = any(
                isinstance(each, Node) and each.where is reading.where and request.time > held.time
                for request in case.facts.requests
                for each in request.sources
            )
            if used and held.place.loops == reading.place.loops:
                yield Finding(
                    rule="frozen-by-flag",
                    message="this flag comes too late: the list that is trained was read before it",
                    primary=case.label(held.where, "does not remove the variables from a list that was read before"),
                    related=(case.label(reading.where, "read here"),),
                    help="set `trainable` first, and read the list after that",
                    severity=Severity.WARNING,
                )
