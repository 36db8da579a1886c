"""What a replayed compiled step shows: where its first bad value came from, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.backends.tensorflow.measure.finite import symptom_of
from whygrad.backends.tensorflow.nonfinite.birth import first_birth, is_at_zero
from whygrad.backends.tensorflow.nonfinite.replay.compiled import CompiledReplay
from whygrad.backends.tensorflow.nonfinite.replay.step_history import TracedRequest
from whygrad.backends.tensorflow.nonfinite.replay.trace import Trace, Value


@dataclass(slots=True)
class Answer:
    """The first request of a step whose target or gradients were not finite; without one, an update did it."""

    trace: Trace
    step: int
    request: TracedRequest | None = None
    birth: Value | None = None
    ends: list[Value] = field(default_factory=list)  # what went bad in the end
    loss_is_bad: bool = False
    symptom: str = "NaN"
    culprits: tuple[int, ...] = ()  # variables whose gradients are bad
    left_bad: tuple[int, ...] = ()  # variables that the step leaves bad
    in_update: Value | None = None  # the first bad value that was made of finite gradients, for an update
    meant_for: tuple[int, ...] = ()  # the variables of that update
    victims: tuple[int, ...] = ()  # those of them whose own gradient was finite
    spread_at: Any = None

    @property
    def is_nothing(self) -> bool:
        """Neither a loss nor a gradient nor a variable went bad: a metric, perhaps."""
        return self.birth is None and self.request is None and not self.left_bad and self.in_update is None


def inquire(replay: CompiledReplay, *, skips_all: bool, held_back: bool = False) -> Answer:
    """Replay the first bad step of a compiled function. Raises ReplayError, or what the step died of.

    What overflows because the loss is scaled is no answer; where the optimizer skips all steps, what the scale has no
    part in is one. `held_back`: a guard has seen that something is bad.
    """
    variables = replay.watched.variables
    replay.run()
    left_bad = tuple(replay.bad_variables())
    answer = Answer(replay.trace, replay.step, left_bad=left_bad)
    requests = list(replay.requests())
    if not requests:  # traced before watching began: which tensor is the loss is not known
        ends = [value for value in replay.outputs if value.bad] or _written(replay, left_bad)
        answer.birth, answer.symptom = first_birth(variables, ends), symptom_of(value.tensor for value in ends)
        answer.ends = ends
        answer.loss_is_bad = any(value.bad for value in replay.outputs)
    gradients = [_gradients(request, known) for request, known in requests]
    for position, (request, known) in enumerate(requests):
        targets = [known[number] for number in request.targets if number in known]
        pairs = gradients[position]
        bad = [(variable, value) for variable, value in pairs if value.bad]
        unscaled = replay.unscaled(request, known)
        bad_targets = [value for value in targets or unscaled if value.bad]  # a product may be traced and never needed
        if not bad_targets and not bad:
            continue
        ends = bad_targets or [value for _, value in bad]
        birth = first_birth(variables, ends)
        absorbed = unscaled and not left_bad and not any(value.bad for value in unscaled)
        if absorbed and not (skips_all and birth is not None and is_at_zero(birth)):
            continue  # it is what loss scaling is for
        answer.request = request
        answer.birth, answer.ends = birth, ends
        answer.loss_is_bad = bool(bad_targets)
        answer.symptom = symptom_of(value.tensor for value in ends)
        answer.culprits = tuple(variable for variable, _ in bad if variable is not None)
        for later in gradients[position + 1 :]:
            answer.culprits += tuple(_spoilt_alike(variables, birth, later, but=answer.culprits))
        fine = {variable for each in gradients[position:] for variable, _ in each}
        fine -= {variable for each in gradients[position:] for variable, value in each if value.bad}
        answer.victims = tuple(variable for variable in left_bad if variable in fine) if answer.culprits else ()
        if answer.victims:
            answer.spread_at = _first_place(replay.interpreter.written.get(answer.victims[0], ()))
        break
    if requests and answer.request is None:
        answer.in_update, answer.meant_for = first_birth(variables, _written(replay, left_bad)), left_bad
        if held_back and not left_bad:
            given = [pair for each in gradients for pair in each]
            answer.in_update = first_birth(variables, _made_of(replay.trace, [value for _, value in given]))
            answer.meant_for = tuple(variable for variable, _ in given if variable is not None)
    if answer.is_nothing and replay.died is not None:
        raise replay.died
    return answer


def _gradients(request: TracedRequest, known: dict[int, Value]) -> list[tuple[int | None, Value]]:
    """What a request gave for each variable."""
    return [(variable, known[number]) for variable, number in request.gradients if number in known]


def _spoilt_alike(
    variables: VariableBook, birth: Value | None, later: list[tuple[int | None, Value]], but: tuple[int, ...]
) -> list[int]:
    """The variables of a later request of the same step that the same expression spoils, run once more."""
    bad = {variable: value for variable, value in later if variable is not None and value.bad and variable not in but}
    found = first_birth(variables, list(bad.values())) if bad and birth is not None else None
    if found is None or birth is None or birth.maker is None or found.maker is None:
        return []
    one, other = birth.maker, found.maker
    return list(bad) if (one.type, one.site.place) == (other.type, other.site.place) else []


def _written(replay: CompiledReplay, variables: Iterable[int]) -> list[Value]:
    """The bad values that were written to these variables."""
    written = replay.interpreter.written
    return [value for variable in variables for value in written.get(variable, ()) if value.bad]


def _made_of(trace: Trace, gradients: Iterable[Value]) -> list[Value]:
    """The bad values that were computed with these."""
    reached, bad = set(map(id, gradients)), []
    for node in trace.nodes:
        if any(id(value) in reached for value in node.inputs):
            outputs = [value for value in node.outputs if value is not None]
            reached.update(map(id, outputs))
            bad += [value for value in outputs if value.bad]
    return bad


def _first_place(values: tuple[Value, ...]) -> Any:
    """The nearest expression of the user's on the bad way back from a variable's new value."""
    todo = [value for value in values if value.bad]
    seen = set(map(id, todo))
    while todo:
        value = todo.pop(0)
        if value.maker is None:
            continue
        if value.maker.site.place is not None and value.maker.site.is_seen and value.maker.forward is None:
            return value.maker.site.place
        for each in value.maker.inputs:
            if each is not None and each.bad and id(each) not in seen:
                seen.add(id(each))
                todo.append(each)
    return None
