"""Sources that a target does not reach: the ways that are cut, and what cuts them (the family WL1)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from whygrad.backends.api import Does
from whygrad.diagnostics import Label, Severity, Word
from whygrad.lint.flow.facts import Request
from whygrad.lint.rules.check import Case, Finding, beside, rules
from whygrad.lint.values.questions import group_owner
from whygrad.lint.values.reach import Cut, Reach, Why, behind, flat, origin, parts_of, reach, related
from whygrad.lint.values.value import Kind, Literal, Node, Object, Value
from whygrad.source import SourceSpan

_SAYS: Final[dict[Why, tuple[str, str, str, str]]] = {  # rule, message, label, help
    Why.OP: (
        "non-differentiable-op",
        "no gradient reaches {source}: its way to the loss goes through an op that has no derivative",
        "the gradient stops here",
        "use something smooth in its place, or take this value out of the loss",
    ),
    Why.INTEGER: (
        "non-differentiable-op",
        "no gradient reaches {source}: on its way to the loss it becomes an integer",
        "the gradient stops here",
        "keep this value in floating point, or move the conversion out of the loss",
    ),
    Why.STOP: (
        "stop-gradient",
        f"no gradient reaches {{source}}: its way to the loss goes through `{Word.STOP_GRADIENT}`",
        "the gradient stops here",
        f"remove `{Word.STOP_GRADIENT}`, or take the gradient of something else",
    ),
    Why.LEFT: (
        "numpy-escape",
        f"no gradient reaches {{source}}: on its way to the loss the value leaves {Word.FRAMEWORK}",
        "what comes back is a constant",
        f"compute this with functions of {Word.FRAMEWORK}, and call the network itself rather than `predict`",
    ),
    Why.UNRECORDED: (
        "outside-tape",
        "no gradient reaches {source}: this is computed while the tape is not recording",
        "not recorded by the tape that is asked",
        f"move it into the `with {Word.TAPE}()` block",
    ),
    Why.SAMPLE: (
        "non-reparameterised-sample",
        "no gradient reaches {source}: its only way to the loss is a random draw",
        "a draw has no derivative with respect to its parameters",
        "multiply the loss by the log-probability of the draw, or draw with a relaxation",
    ),
    Why.UNREGISTERED: (
        "no-registered-gradient",
        f"{Word.FRAMEWORK} has no gradient for an op on the way from {{source}} to the loss",
        "asking for a gradient through this raises",
        "build it from ops that have a gradient, or take it out of the loss",
    ),
    Why.ZERO: (
        "zero-gradient-op",
        "the gradient of {source} is zero: its only way to the loss goes through a sign",
        "the gradient of this is zero everywhere",
        f"use something smooth in its place, such as `{Word.TANH}`",
    ),
    Why.WRITTEN: (
        "assign-breaks-gradient",
        "no gradient reaches {source}: its value goes to the loss through a variable that it is written into",
        "a variable does not remember what its value was computed from",
        "use the tensor itself in the loss, and write the variable afterwards",
    ),
    Why.KEPT: (
        "state-boundary",
        "no gradient reaches {source}: its value goes to the loss through a data set",
        "what comes out of a data set does not remember what it was computed from",
        "compute it from the batch, inside of the tape",
    ),
    Why.STATE: (
        "assign-breaks-gradient",
        "no gradient reaches {source}: its value goes to the loss through the state of a metric",
        "the state of a metric does not remember what it was computed from",
        "compute the loss with a loss function, and keep the metric for reporting",
    ),
}


@rules(
    non_differentiable_op="WL101",
    no_registered_gradient="WL102",
    stop_gradient="WL103",
    numpy_escape="WL104",
    outside_tape="WL105",
    non_reparameterised_sample="WL106",
    variable_not_in_loss="WL107",
    unwatched_source="WL108",
    wrong_source_object="WL109",
    int_variable="WL110",
    constant_target="WL111",
    assign_breaks_gradient="WL112",
    state_boundary="WL113",
    zero_gradient_op="WL301",
)
def missing_gradients(case: Case) -> Iterator[Finding]:
    """Each source of each request that the target does not reach."""
    for request in case.facts.requests:
        yield from _of_request(case, request)


def _of_request(case: Case, request: Request) -> Iterator[Finding]:
    if request.is_lenient:
        return
    found = reach(request.target, request.tape)
    _follow_writes(case, request, found)
    spoken: dict[int, list[str]] = {}
    cuts: dict[int, tuple[Cut, Node]] = {}
    for source, part in _wanted(request):
        if isinstance(part, Node) and part.kind is Kind.VARIABLE and part.group is None and part.dtype == "int":
            yield _integer(case, request, part)
            continue
        if found.has(part) or found.unknown:
            continue
        blamed = [cut for cut in found.cuts if _is_behind(cut, part)]
        blamed = [each for each in blamed if not each.chooses] or blamed
        alone = [each for each in blamed if _is_all_there_is(each, part, request)] or blamed
        # What was computed before the tape may be data on purpose; not so what is cut under its eyes.
        for cut in [each for each in alone if each.why is not Why.UNRECORDED] or alone:
            first = origin(cut, part)
            cuts[id(first)] = cut, first
            spoken.setdefault(id(first), []).append(_name(case, source, part))
    for cut in found.cuts:  # asking raises, whatever other ways there are
        if cut.why is Why.UNREGISTERED and cut.at.where not in {first.where for _, first in cuts.values()}:
            asked = [part for _, part in _wanted(request) if _is_behind(cut, part)]
            if asked:
                cuts[id(cut.at)] = cut, cut.at
                spoken[id(cut.at)] = [_name(case, asked[0], asked[0])]
    for key, (cut, first) in cuts.items():
        yield _cut(case, request, cut, first, spoken[key], found)
    if not cuts:
        yield from _unwatched(case, request, found)


def _follow_writes(case: Case, request: Request, found: Reach) -> None:
    """What was written into a variable before the target read it lies behind that variable."""
    for write in case.facts.writes:
        variable = write.variable
        held = variable.group is None and (id(variable) in found.nodes or found.calls(variable.parent))
        if held and write.value is not None and write.time < request.time:
            node = Node(Kind.TENSOR, write.where, Does.WRITTEN, (write.value,), place=write.place)
            found.cuts.append(Cut(node, Why.WRITTEN))


def _wanted(request: Request) -> Iterator[tuple[Value, Value]]:
    """Each source, and each known part of those that stand for a list."""
    for source in request.sources:
        if isinstance(source, Node) and source.group is not None:
            if not source.group.some:
                yield from ((source, part) for part in parts_of(source.group) or [source])
        elif isinstance(source, Node) and source.does is not Does.EITHER:
            yield source, source


def _is_behind(cut: Cut, part: Value) -> bool:
    return cut.at is not part and behind(cut.at).has(part)


def _is_all_there_is(cut: Cut, part: Value, request: Request) -> bool:
    """Whether the gradient would be there without this cut."""
    first = origin(cut, part)
    if first.callee is not None and Reach(callees=[first.callee]).has(part):
        return True
    tape = None if cut.why is Why.UNRECORDED else request.tape
    return any(reach(value, tape).has(part) for value in first.inputs)


def _name(case: Case, source: Value, part: Value) -> str:
    label = part.words.get("name") if isinstance(part, Object) else None
    if isinstance(label, Literal):
        return str(label.value)
    return case.named(source if isinstance(part, Object) else part)


def _cut(case: Case, request: Request, cut: Cut, first: Node, names: list[str], found: Reach) -> Finding:
    why = Why.SAMPLE if cut.why in (Why.OP, Why.INTEGER) and first.does is Does.SAMPLE else cut.why
    rule, message, label, help_ = _SAYS[why]
    shown = tuple(dict.fromkeys(names))
    source = f"`{shown[0]}`" if len(shown) == 1 else f"{len(shown)} variables"
    where: ast.AST = first.where if isinstance(first.where, (ast.expr, ast.stmt)) else request.where
    if why is Why.UNRECORDED and request.tape is not None and first.place is not None:
        where = beside(request.tape, first.place) or where
    return Finding(
        rule=rule,
        message=message.format(source=source),
        primary=case.label(where, label),
        variables=shown,
        related=(case.label(request.where, "the gradient is asked for here"),) if where is not request.where else (),
        help=help_,
        tape=_tape_span(case, request),
        asked=case.span(request.where),
        does=first.does,
        certain=not found.guesses,
        severity=Severity.ERROR if not found.guesses else Severity.WARNING,
    )


def _tape_span(case: Case, request: Request) -> SourceSpan | None:
    return None if request.tape is None else case.span(request.tape.where)


def _integer(case: Case, request: Request, variable: Node) -> Finding:
    where = variable.where if isinstance(variable.where, ast.expr) else request.where
    name = case.named(variable)
    return Finding(
        rule="int-variable",
        message=f"no gradient can be taken of `{name}`: it holds integers",
        primary=case.label(where, "an integer, by the value that it begins with"),
        variables=(name,),
        related=(case.label(request.where, "the gradient is asked for here"),),
        help=f"write the value as a float, or pass `dtype={Word.FLOAT32}`",
    )


def _unwatched(case: Case, request: Request, found: Reach) -> Iterator[Finding]:
    """A tensor that a gradient is asked of, and that the tape was not told to watch in time."""
    tape = request.tape
    if tape is None or tape.kept or request.method == "fit":
        return
    for source in request.sources:
        if isinstance(source, Node) and source.kind is Kind.VARIABLE and source.does is not Does.EITHER:
            yield from _variable_unwatched(case, request, source)
        if not isinstance(source, Node) or source.kind is not Kind.TENSOR or source.does is Does.EITHER:
            continue
        watched = [time for value, time in tape.watched if value is source]
        if any(isinstance(value, Node) and value.kind is Kind.UNKNOWN for value, _ in tape.watched):
            continue
        users = [node for node in found.nodes.values() if _uses(node, source) and tape in node.under]
        made_inside = tape in source.under and source.does is not None
        if not watched and not made_inside and users:
            yield Finding(
                rule="unwatched-source",
                message=f"no gradient reaches `{case.named(source)}`: the tape does not watch it",
                primary=case.label(request.where, "a tensor is only followed if it is watched"),
                variables=(case.named_at(request.where, source),),
                tape=_tape_span(case, request),
                related=_first_use(case, users),
                help=f"call `{Word.WATCH}(...)` with it before the forward pass",
            )
        elif watched and users and min(watched) > max(node.time for node in users):
            call = _watch_call(case, request, source)
            yield Finding(
                rule="unwatched-source",
                message=f"no gradient reaches `{case.named(source)}`: it is watched only after it was used",
                primary=case.label(call or request.where, "too late: what came before is not recorded for it"),
                variables=(case.named_at(request.where, source),),
                tape=_tape_span(case, request),
                late=call is not None,
                related=_first_use(case, users),
                help=f"move `{Word.WATCH}(...)` before the first use",
            )


def _variable_unwatched(case: Case, request: Request, source: Node) -> Iterator[Finding]:
    """A variable that is not trainable, or any where the tape watches only what it is told."""
    tape = request.tape
    assert tape is not None
    fixed = source.trainable is False and source.group is None
    if (not fixed and tape.watches is not False) or tape.watches is None:
        return
    wanted = group_owner(source)
    for value, _ in tape.watched:
        if value is source or (isinstance(value, Node) and value.kind is Kind.UNKNOWN):
            return
        owner = group_owner(value)
        if owner is not None and wanted is not None and related(owner, wanted):
            return
    name = case.named(source)
    reason = "it is not trainable" if fixed else "this tape watches only what `watch` names"
    yield Finding(
        rule="unwatched-source",
        message=f"no gradient reaches `{name}`: {reason}, and no call of `watch` names it",
        primary=case.label(request.where, "asked for here"),
        variables=(name,),
        related=(case.label(source.where, "made here"),) if isinstance(source.where, ast.expr) and fixed else (),
        help=f"call `{Word.WATCH}(...)` with it before the forward pass, or make it trainable",
    )


def _watch_call(case: Case, request: Request, source: Value) -> ast.AST | None:
    for use in case.facts.uses:
        if use.method == "watch" and use.owner is request.tape and any(source in flat(each) for each in use.arguments):
            return use.where
    return None


def _first_use(case: Case, users: list[Node]) -> tuple[Label, ...]:
    first = min(users, key=lambda node: node.time)
    return (case.label(first.where, "used here"),) if isinstance(first.where, ast.expr) else ()


def _uses(node: Node, source: Value) -> bool:
    return any(each is source for value in node.inputs for each in flat(value))
