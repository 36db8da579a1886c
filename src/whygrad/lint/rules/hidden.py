"""Layers and variables that are kept where the network which uses them does not look (WL201)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.backends.api import Does, Role
from whygrad.diagnostics import Severity, Word
from whygrad.lint.flow.facts import Request
from whygrad.lint.rules.check import NETWORKS, Case, Finding, is_todays, rules
from whygrad.lint.rules.untracked import keeps_its_own_list
from whygrad.lint.values.questions import group_owner, is_weightless
from whygrad.lint.values.reach import flat
from whygrad.lint.values.value import Function, Kind, Klass, Node, Object, Value


@rules(untracked_variable="WL201")
def in_objects(case: Case) -> Iterator[Finding]:
    """What an object holds that its network cannot look into: one of a plain class, or of another library."""
    said: set[int] = set()
    asked = _asked(case)
    for request, owner in _trained(case):
        used = case.reach(request)
        hidden: dict[int, tuple[Object, Object, list[Value]]] = {}  # by what would have to be another class
        for holder, held in _closed(case, owner):
            parts = [each for each in held.contents() if _learns(case, each) and id(each) not in asked]
            parts = [each for each in parts if used.has(each) and isinstance(each.where, ast.expr)]
            changed = holder if holder.role is Role.MODULE and held.role is not None else held
            if parts and id(changed) not in said:
                hidden.setdefault(id(changed), (holder, held, []))[2].extend(parts)
        said |= hidden.keys()
        for holder, held, parts in hidden.values():
            yield _hidden(case, request, holder, held, sorted(parts, key=lambda each: getattr(each.where, "lineno", 0)))


def _hidden(case: Case, request: Request, holder: Object, held: Object, parts: list[Value]) -> Finding:
    names = tuple(dict.fromkeys(case.named(each) for each in parts))
    why, help_ = f"a network does not look into `{_called(held)}`, a plain object", None
    if held.role is Role.MODULE:
        why = f"{Word.NETWORK_LIBRARY} 3 does not look into a `{Word.MODULE}`"
    elif held.role is not None:
        why = f"a `{Word.MODULE}` does not look into a layer of {Word.NETWORK_LIBRARY} 3"
        help_ = f"make `{_called(holder)}` a `{Word.NETWORK}`, or ask for the variables of each layer"
    assert parts[0].where is not None
    return Finding(
        rule="untracked-variable",
        message=f"`{_called(holder)}` does not know `{names[0]}`, so no optimizer updates it: {why}",
        primary=case.label(parts[0].where, "not in any list of trained variables"),
        variables=names,
        related=(case.label(request.where, "trained here, without it"),),
        asked=case.span(request.where),
        help=help_ or f"make `{_called(held)}` a `{Word.LAYER}`, or keep its variables in the network itself",
    )


def _called(made: Object) -> str:
    return made.klass.name if made.klass is not None else made.short


def _trained(case: Case) -> Iterator[tuple[Request, Object]]:
    """Each network whose own list is all that a gradient is asked of."""
    for request in case.facts.requests:
        owners = [group_owner(each) for each in request.sources]
        for owner in owners:
            if isinstance(owner, Object) and all(isinstance(each, Object) for each in owners) and _is_open(owner):
                yield request, owner


def _is_open(owner: Object) -> bool:
    """Whether no class of what an object holds keeps a list of its own."""
    classes = {each.klass for each in owner.objects() if each.klass is not None}
    return not any(map(keeps_its_own_list, classes))


def _asked(case: Case) -> set[int]:
    """All that gradients are asked of or that is updated somewhere in the file."""
    values = [each for request in case.facts.requests for each in request.sources]
    values += [each for update in case.facts.updates for _, each in update.pairs or ()]
    found = {id(each) for each in values}
    for owner in {owner for each in values if (owner := group_owner(each)) is not None}:
        found |= {id(each) for each in _seen(case, owner)}
    return found


def _seen(case: Case, owner: Value) -> Iterator[Value]:
    """What the lists of an object have, object by object."""
    waiting, seen = [owner], set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, Object):
            waiting += [each for each in _held(value) if not isinstance(each, Object) or _looks_into(case, value, each)]


def _closed(case: Case, owner: Object) -> Iterator[tuple[Object, Object]]:
    """The objects that are held by something the owner sees, and that it does not look into."""
    for holder in _seen(case, owner):
        if isinstance(holder, Object):
            for each in _held(holder):
                if isinstance(each, Object) and not _looks_into(case, holder, each):
                    yield holder, each


def _held(holder: Object) -> Iterator[Value]:
    given = holder.words.values() if holder.klass is None else ()  # `Dense(8, activation=Snake())`
    for value in (*(holder.members or ()), *holder.attributes.values(), *given):
        yield from flat(value)


def _looks_into(case: Case, holder: Object, held: Object) -> bool:
    """Whether the lists of one object have the variables of another that it holds; True where that is not known."""
    if _is_plain(held):
        return False
    if holder.role in NETWORKS and is_todays(case, holder):
        return held.role is not Role.MODULE
    return not (holder.role is Role.MODULE and held.role in NETWORKS and is_todays(case, held))


def _is_plain(made: Object) -> bool:
    """Whether an object is of a class of the user's that comes from nowhere."""
    if made.role is not None or made.klass is None:
        return False
    bases = (base for base in made.klass.all_bases() if not isinstance(base, Klass))
    return all(isinstance(base, Node) and base.name == "object" for base in bases)


def _learns(case: Case, value: Value) -> bool:
    """Whether a value is a variable that is meant to be trained, or a layer that has some."""
    if isinstance(value, Node):
        return value.kind is Kind.VARIABLE and value.trainable is True and value.dtype != "int" and value.group is None
    if not isinstance(value, Object) or value.role is not Role.LAYER or value.klass is not None:
        return False
    return value.called and not value.frozen and not is_weightless(value, case.api)


@rules(untracked_variable="WL201")
def in_functions(case: Case) -> Iterator[Finding]:
    """A layer that only the function of a `Lambda` calls: the network never learns of it."""
    for holder in case.facts.objects:
        function = holder.given("function", 0)
        if holder.role is not Role.LAMBDA or not isinstance(function, Function):
            continue
        inside = set(ast.walk(function.node))
        for layer in _called_inside(case, inside):
            request = next((each for each, _ in _trained(case) if case.reach(each).has(layer)), None)
            if request is not None:
                name = case.named(layer)
                yield Finding(
                    rule="untracked-variable",
                    message=f"no optimizer updates `{name}`: a network does not know what its `{holder.short}` calls",
                    primary=case.label(layer.where, "not in any list of trained variables"),
                    variables=(name,),
                    related=(case.label(request.where, "trained here, without it"),),
                    help=f"call the layer without `{holder.short}`, or hold it in a `{Word.LAYER}` of your own",
                    severity=Severity.WARNING,
                )


def _called_inside(case: Case, inside: set[ast.AST]) -> Iterator[Object]:
    """Layers that are called in a function and nowhere else, and that nothing holds."""
    held = {id(each) for holding in case.facts.holdings for each in flat(holding.value)}
    for layer in case.facts.objects:
        # The layers of a functional network are known from the calls alone.
        listed = any(owner.role is Role.SEQUENTIAL for owner in layer.owners)
        if _learns(case, layer) and not listed and id(layer) not in held:
            calls = [node.where for node in case.facts.nodes if node.callee is layer and node.does is Does.LAYER]
            if calls and all(where in inside for where in calls):
                yield layer


@rules(untracked_variable="WL201")
def in_lists_that_were_copied(case: Case) -> Iterator[Finding]:
    """A layer that joins a list after a network took its copy of that list."""
    said: set[int] = set()
    for late in case.facts.late:
        if id(late.copied) in said:
            continue
        if isinstance(late.value, Object) and late.value.role in NETWORKS and not is_weightless(late.value, case.api):
            said.add(id(late.copied))
            yield Finding(
                rule="untracked-variable",
                message="this joins a list that the network has copied already, so the network does not know it",
                primary=case.label(late.where, "added to the original, not to the copy"),
                related=(case.label(late.copied, "copied here"),),
                help="fill the list before it is given to the network, or add to the attribute",
            )
