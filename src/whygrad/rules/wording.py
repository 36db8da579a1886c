"""How rules speak: of variables, of expressions, of steps."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from whygrad.diagnostics import Label, Steps
from whygrad.graph import Recording, Request, Source, Variable, VariableId
from whygrad.graph.objects import ObjectCalled
from whygrad.graph.questions.query import made_at
from whygrad.graph.recording import OF_PYTHON
from whygrad.source import SourceSpan, source_text
from whygrad.source.module import function_around


def steps_of(recording: Recording, requests: Iterable[Request]) -> Steps:
    """How often these were seen, of all requests for the same loss made at the same places."""
    group = list(requests)
    places = {(request.where, made_at(request)) for request in group}
    distinct = {id(request): request for request in group}
    of = sum(request.times for request in recording.requests if (request.where, made_at(request)) in places)
    return Steps(sum(request.times for request in distinct.values()), of)


def names_of(recording: Recording, request: Request, sources: Iterable[Source]) -> tuple[str, ...]:
    """The names of sources as the user knows them, each once."""
    return tuple(dict.fromkeys(name_of(recording, request, source) for source in sources))


def names(recording: Recording, variables: Iterable[VariableId]) -> tuple[str, ...]:
    """The names of variables, each once; those that the recording does not know are left out."""
    known = (recording.variables.get(variable) for variable in variables)
    return tuple(dict.fromkeys(variable_name(variable) for variable in known if variable is not None))


def asked_at(recording: Recording, where: SourceSpan | None) -> tuple[str, ...]:
    """What the requests at a place ask for, by name."""
    found = [request for request in recording.requests if where is not None and request.where == where]
    return tuple(dict.fromkeys(name for each in found for name in names_of(recording, each, each.sources)))


def made_at_line(recording: Recording, where: SourceSpan | None) -> tuple[str, ...]:
    """The variables that the line of a place has made: itself, or an object that is called there."""
    if where is None:
        return ()
    line = (where.file, where.line)
    own = [v.id for v in recording.variables.values() if v.created and (v.created.file, v.created.line) == line]
    for event in recording.events_of(ObjectCalled):
        if any(call.where and (call.where.file, call.where.line) == line for call in event.calls):
            own += event.variables
    return names(recording, own)


UNNAMED = "the source tensor"


def name_of(recording: Recording, request: Request, source: Source) -> str:
    if source.variable is not None:
        return variable_name(recording.variables[source.variable])
    function = function_around(request.where) if request.method == OF_PYTHON else None
    return source_expression(request, source) or (UNNAMED if function is None else f"what {function} is given")


def source_expression(request: Request, source: Source | None = None) -> str | None:
    """The user's own words for what the gradient was asked of; with `source`, for that one of a list."""
    asked = _argument(request, 1, ("sources", "source"))
    if source is not None and isinstance(asked, (ast.List, ast.Tuple)):
        plain = not any(isinstance(each, ast.Starred) for each in asked.elts)
        if plain and len(asked.elts) == len(request.sources):
            asked = asked.elts[next(i for i, each in enumerate(request.sources) if each is source)]
    return None if asked is None else ast.unparse(asked)


def target_expression(request: Request) -> str | None:
    """The user's own words for what was differentiated."""
    target = _argument(request, 0, ("target",))
    return None if target is None else ast.unparse(target)


def _argument(request: Request, position: int, names: tuple[str, ...]) -> ast.expr | None:
    text = None if request.where is None else source_text(request.where)
    try:
        call = ast.parse((text or "").strip(), mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr not in ("gradient", "jacobian", "batch_jacobian"):
        return None
    if len(call.args) > position:
        return call.args[position]
    return next((k.value for k in call.keywords if k.arg in names), None)


def variable_name(variable: Variable) -> str:
    if not variable.named and variable.owner and variable.attribute:
        return f"{variable.owner}.{variable.attribute}"
    return variable.name


def listing(names: tuple[str, ...]) -> str:
    """`a`; `a` and `b`; 6 variables of `encoder`."""
    quoted = [name if name.startswith("the ") else f"`{name}`" for name in names]
    if len(names) <= 2:
        return " and ".join(quoted) or "the sources"
    roots = {name.split("/")[0] for name in names}
    if len(roots) == 1 and "/" in names[0]:
        return f"{len(names)} variables of `{roots.pop()}`"
    return f"{quoted[0]}, {quoted[1]} and {len(names) - 2} more"


def also_at(places: Iterable[SourceSpan | None], but: SourceSpan | None, text: str = "and here") -> tuple[Label, ...]:
    """The other places that share a fault, each once, in order."""
    return tuple(Label(place, text) for place in dict.fromkeys(places) if place is not None and place != but)


def text_of(span: SourceSpan | None) -> str:
    """The user's expression in backticks, shortened; `this` where it cannot be had."""
    text = None if span is None else source_text(span)
    if not text:
        return "this"
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}...`"
