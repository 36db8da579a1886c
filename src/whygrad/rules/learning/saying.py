"""How findings about a loss, its targets and the last layer are put: where they point, and what they show."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.graph import Recording, Request
from whygrad.graph.learning import LayerFacts, Objective, Values
from whygrad.graph.questions.exchanged import exchanged_losses
from whygrad.graph.questions.misfit import Found, Misfit, misfits
from whygrad.graph.questions.progress import last_loss, of_constant, request_of
from whygrad.graph.questions.query import index_of
from whygrad.graph.questions.stall import Stall, stalls
from whygrad.graph.questions.zeros import zeroed_by_lone_softmax
from whygrad.rules.learning.remedies import remedies
from whygrad.rules.odd_gradient.over_steps import all_zero, followed, silenced
from whygrad.rules.rule import Finding
from whygrad.rules.wording import names_of
from whygrad.source import SourceSpan, source_text
from whygrad.source.arguments import argument_span
from whygrad.source.origin import Hop, compared_data, hops

_DATA: Final = 2  # inputs and targets are the first arguments
_LOSS_AT: Final = 1  # the position of the loss among the arguments of `compile`


def found_of(recording: Recording, *wanted: Misfit) -> Iterator[Found]:
    """The misfits of these kinds."""
    return (found for found in _misfits(recording) if found.misfit in wanted)


def _misfits(recording: Recording) -> Iterator[Found]:
    if not recording.objectives:
        return
    exchanged = {op.where for _, op in exchanged_losses(recording)}  # what is compared there is no output
    yield from (found for found in misfits(recording) if found.objective.where not in exchanged)


def unfit(recording: Recording) -> set[int]:
    """The ids of the losses that have a misfit."""
    return {id(found.objective) for found in _misfits(recording)}


def loss_place(objective: Objective) -> SourceSpan | None:
    """Where the loss is chosen: in `compile`, or where the loss object was made."""
    if not objective.compiled:
        return objective.made or objective.where
    given = argument_span(objective.where, "loss", _LOSS_AT)
    named = given is not None and (source_text(given) or "").isidentifier()
    return objective.made if named and objective.made is not None else given or objective.where


def data_place(objective: Objective, name: str, position: int) -> Label | None:
    """The argument of the training that holds these data, or where a loop's data got their name; else the training."""
    given = argument_span(objective.trained, name, position)
    if objective.trained is None and position < _DATA:
        given = next((hop.made for hop in data_trails(objective)[position]), None)
    where = given or objective.trained or objective.where
    return None if where is None else Label(where, "these data" if given is not None else "trained here")


def data_trails(objective: Objective) -> tuple[list[Hop], list[Hop]]:
    """The names that the inputs and the targets of a training had in the code, the latest first."""
    if objective.trained is None:
        inputs, targets = compared_data(objective.where)
        return hops(inputs), hops(targets)
    inputs, targets = argument_span(objective.trained, "x", 0), argument_span(objective.trained, "y", 1)
    return (hops(inputs), hops(targets)) if targets is not None else (hops(inputs, (0,)), hops(inputs, (1,)))


def steps_of(objective: Objective) -> Steps:
    """All steps of a training: what does not fit does not fit in any of them."""
    return Steps(max(1, objective.steps), max(1, objective.steps))


def stalled_by(recording: Recording, wanted: Stall) -> Iterator[Objective]:
    """The trainings that this keeps from learning."""
    found = stalls(recording) if recording.objectives else ()
    return (each.objective for each in found if each.stall is wanted)


def progress_notes(recording: Recording, objective: Objective) -> tuple[str, ...]:
    """What the loss came to, against that of a constant answer."""
    request, constant = request_of(recording, objective), of_constant(objective)
    if request is None or constant is None:
        return ()
    end = last_loss(request)
    return (f"after {request.ran} steps the loss is {end:.4g}; the same answer for every input has {constant:.4g}",)


def said(
    found: Found,
    message: str,
    *,
    label: str,
    help: str,
    at_loss: bool = False,
    severity: Severity | None = None,
    notes: tuple[str, ...] = (),
    certain: bool = True,
) -> Finding:
    """A finding that points at the layer to change, or at the loss."""
    objective = found.objective
    further, variables = _consequence(found)
    layer = None if found.layer is None else found.layer.activated or found.layer.made
    loss = loss_place(objective)
    first, second = (loss, layer) if at_loss or layer is None else (layer, loss)
    other = "the output comes from here" if first == loss else f"compared by `{objective.name}` here"
    return Finding(
        message=message,
        primary=None if first is None else Label(first, label),
        related=() if second is None or second == first else (Label(second, other),),
        variables=variables,
        notes=(*notes, *further),
        help=help,
        severity=severity,
        steps=steps_of(objective),
        certain=certain,
        fixes=partial(remedies, found, layer, loss),
    )


def _consequence(found: Found) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What else was seen of the same training and follows from it: notes, and the variables that stand still."""
    request = request_of(found.recording, found.objective)
    group = [] if request is None else followed(found.recording, request)
    wall = silenced(group)
    if wall is not None:
        return (f"no gradient passes `{wall[0].layer}`: a consequence",), tuple(each.name for each in wall[1])
    if all_zero(group):
        return ("every gradient is zero: a consequence",), tuple(each.name for each in group)
    lone = [] if request is None else zeroed_by_lone_softmax(request, index_of(request.graph))
    if lone and request is not None:
        still = [source for zeroed in lone for source in zeroed.sources]
        return ("no gradient passes it, but for rounding: a consequence",), names_of(found.recording, request, still)
    return (), ()


def trained_variables(recording: Recording, request: Request | None) -> tuple[str, ...]:
    """The names of what a request trains."""
    return (
        () if request is None else names_of(recording, request, [s for s in request.sources if s.variable is not None])
    )


def output_name(layer: LayerFacts | None, objective: Objective) -> str:
    """`dense_2`, by the last part of its path; the model, where no layer is known."""
    name = objective.model if layer is None else layer.name
    return f"`{name.rpartition('/')[2]}`" if name else "the model"


def stretch(values: Values) -> str:
    """From where to where numbers go."""
    return f"{values.minimum:.4g} to {values.maximum:.4g}"


def shape_text(values: Values) -> str:
    """`(N, 3)`: the first axis is the batch."""
    rest = "".join(f", {'?' if length is None else length}" for length in values.shape[1:])
    return f"(N{rest or ','})"
