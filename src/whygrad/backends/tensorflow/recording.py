"""The frozen recording of a capture: TensorFlow's objects go in, neutral data comes out."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.accumulators import Windows
from whygrad.backends.tensorflow.baked_state import baked_state
from whygrad.backends.tensorflow.keras_hooks import KerasFacts, all_layers, listed
from whygrad.backends.tensorflow.module_contents import module_contents
from whygrad.backends.tensorflow.multiplied_layers import multiplied
from whygrad.backends.tensorflow.optimizers import PairEntry, UpdateEntry
from whygrad.backends.tensorflow.positions import span
from whygrad.backends.tensorflow.variables import VariableEntry
from whygrad.capture.naming import alias_assignment, callee, is_looped_over
from whygrad.graph import (
    Event,
    Failure,
    GradientNumbers,
    Ledger,
    Outcome,
    Pairing,
    Recording,
    Request,
    Source,
    Tape,
    TapeId,
    TensorId,
    Update,
    Variable,
    VariableId,
)
from whygrad.graph.event import (
    ClippedSum,
    Compiled,
    FlagSet,
    LayerCalled,
    ModelTrained,
    RunningTotal,
    SharedCalls,
    UnbuiltRead,
)
from whygrad.source import SourceSpan

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.requests import RequestEntry, SourceEntry


def record(capture: Capture, failure: Failure | None = None) -> Recording:
    """Everything seen so far; the capture may go on afterwards."""
    capture.recorder.paused += 1
    try:
        capture.numbers.look_again()
        owners = dict(_owners(capture))
        variables = {
            VariableId(entry.id): _variable(capture, entry, owners.get(entry.id))
            for entry in list(capture.variables.entries.values())
        }
        return Recording(
            requests=tuple(_request(capture, entry) for entry in list(capture.requests.entries.values())),
            updates=tuple(_updates(capture)),
            variables=variables,
            tapes={TapeId(number): _tape(facts) for number, facts in capture.tape_facts.items()},
            events=tuple(_events(capture)),
            holders=_holders(capture),
            failure=failure,
            ledger=_ledger(capture, variables),
        )
    finally:
        capture.recorder.paused -= 1


def ledger_of(capture: Capture) -> Ledger:
    """Who wrote to which variable so far."""
    entries = list(capture.variables.entries.values())
    return _ledger(capture, {VariableId(entry.id): _variable(capture, entry, None) for entry in entries})


def _ledger(capture: Capture, variables: dict[VariableId, Variable]) -> Ledger:
    book = capture.recorder.ledger
    copies = {number for number, variable in variables.items() if _REPLICA.search(variable.name)}
    writes = tuple(write for write in book.writes() if write.variable not in copies)
    written = {write.variable for write in writes}
    names = {number: variable.name for number, variable in variables.items() if number in written}
    return Ledger(variables=names, writes=writes, steps=book.step, dropped=book.dropped)


_REPLICA = re.compile(r"/replica_\d+$")  # the copies of a mirrored variable are written together


def _tape(facts: Any) -> Tape:
    return Tape(
        id=TapeId(facts.number),
        persistent=facts.persistent,
        watches_variables=facts.watches_variables,
        entered=span(facts.entered),
        spent=span(facts.used_up),
    )


def _request(capture: Capture, entry: RequestEntry) -> Request:
    sizes = capture.numbers.sizes(entry)
    return Request(
        tape=TapeId(entry.tape),
        targets=tuple(map(TensorId, entry.targets)),
        sources=tuple(_source(source, entry.looks, sizes.of.get(i)) for i, source in enumerate(entry.sources)),
        graph=entry.graph,
        where=span(entry.place),
        seen=entry.count,
        order=entry.order,
        compiled=entry.compiled,
        zeros_accepted=entry.zeros_accepted,
        target_type=entry.target_type,
        method=entry.method,
        model=entry.model,
        error=entry.error,
        steps=sizes.steps,
        ran=sizes.ran,
    )


def _source(source: SourceEntry, looks: int, numbers: GradientNumbers | None) -> Source:
    outcome = source.outcome
    if outcome is Outcome.PRESENT and (
        (looks and source.zero_looks == looks) or (not looks and _is_always_zero(numbers))
    ):
        outcome = Outcome.ZERO
    return Source(
        variable=None if source.variable is None else VariableId(source.variable),
        tensor=None if source.tensor is None else TensorId(source.tensor),
        type_name=source.type_name,
        outcome=outcome,
        watched=source.watched,
        numbers=numbers,
    )


def _is_always_zero(numbers: GradientNumbers | None) -> bool:
    """Whether a compiled step has seen nothing but zeros; one step says nothing."""
    return numbers is not None and len(numbers.norms) > 1 and not any(numbers.norms)


def _updates(capture: Capture) -> Iterator[Update]:
    windows = Windows(capture)
    for entry in list(capture.updates.entries.values()):
        yield Update(
            optimizer=entry.optimizer,
            optimizer_id=entry.optimizer_id,
            pairs=tuple(_pairing(windows, entry, pair) for pair in entry.pairs),
            stateful=entry.stateful,
            made=span(entry.made),
            where=span(entry.place),
            seen=entry.count,
            order=entry.order,
            unknown=tuple(map(VariableId, entry.unknown)),
            runs=_runs(capture, entry) if entry.traced else None,
            averages=entry.averages,
        )


def _runs(capture: Capture, entry: UpdateEntry) -> int | None:
    """How often a compiled update ran, told by what it wrote; None where others of its name cannot be told apart."""
    moved = {pair.variable for pair in entry.pairs}
    return capture.recorder.ledger.runs_of(entry.optimizer, moved) if entry.distinct else None


def _pairing(windows: Windows, entry: UpdateEntry, pair: PairEntry) -> Pairing:
    label, window = pair.label, windows.size(entry, pair)
    if label is None:
        return Pairing(variable=VariableId(pair.variable), gradient_of=None, missing=pair.missing, frozen=pair.frozen)
    clipped = label.clipped_then_summed
    return Pairing(
        variable=VariableId(pair.variable),
        gradient_of=frozenset(map(VariableId, label.variables)),
        missing=pair.missing,
        frozen=pair.frozen,
        requests=window or len(label.requests),
        scale=label.scale,
        mean=label.mean,
        stale=pair.stale or windows.never_set_back(entry, pair),
        same_place=label.asked is not None and len(label.tapes) == len(label.requests),
        clipped=None if clipped is None else span(clipped[0]),
        summed=span(label.summed),
        mixed=span(label.mixed),
        divided=span(label.divided),
        loss_divided=span(label.loss_divided),
        noised=label.noised,
        compiled=pair.compiled and window is None,
        beside=pair.beside,
        overwritten=span(pair.overwritten),
    )


def _variable(capture: Capture, entry: VariableEntry, owner: tuple[str, str, bool] | None) -> Variable:
    keras = entry.keras() if entry.keras is not None else None
    reference, made = capture.keras.made_variables.get(id(keras), (None, None))
    if keras is None or reference is None or reference() is not keras:
        made = entry.created
    name = str(getattr(keras, "path", None) or entry.name)
    trainable = bool(keras.trainable) if keras is not None else entry.trainable
    return Variable(
        id=VariableId(entry.id),
        name=name,
        dtype=entry.dtype,
        shape=entry.shape,
        trainable=trainable,
        watchable=entry.trainable,
        created=span(made),
        owner=None if owner is None else owner[0],
        attribute=None if owner is None else owner[1],
        writes=entry.writes,
        made_in_step=entry.made_in_step,
        in_constructor=entry.in_constructor,
        tracked=True if owner is None else owner[2],
    )


def _owners(capture: Capture) -> Iterator[tuple[int, tuple[str, str, bool]]]:
    """Variables that a layer or loss holds in an attribute, and whether its own lists have them."""
    facts = capture.keras
    for holder in [*facts.layers_seen, *facts.losses_seen]:
        own = listed(holder, "variables")
        tracked = {id(variable) for variable in own} | {id(getattr(variable, "_value", variable)) for variable in own}
        for attribute, value in list(vars(holder).items()):
            if attribute.startswith("_") and attribute not in ("_kernel",):
                continue
            for variable in _variables_in(value, 3):
                entry = capture.variables.of(variable)
                if entry is not None:
                    known = id(variable) in tracked or id(getattr(variable, "_value", None)) in tracked
                    yield entry.id, (type(holder).__name__, attribute, known)


def _variables_in(value: Any, depth: int) -> Iterator[Any]:
    """Variables in an attribute's value: itself, in containers, in plain objects."""
    if hasattr(value, "assign") and (hasattr(type(value), "handle") or hasattr(value, "_value")):
        yield value
    elif depth == 0:
        return
    elif isinstance(value, (list, tuple, set)):
        for item in value:
            yield from _variables_in(item, depth - 1)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _variables_in(item, depth - 1)
    elif _is_plain_object(value):
        for item in list(vars(value).values()):
            yield from _variables_in(item, depth - 1)


def _is_plain_object(value: Any) -> bool:
    """An object of the user's own that is no layer."""
    package = type(value).__module__.split(".")[0]
    foreign = package in ("builtins", "numpy", "keras", "tensorflow", "tf_keras")
    return not foreign and not hasattr(value, "built") and hasattr(value, "__dict__")


def _holders(capture: Capture) -> dict[str, frozenset[VariableId]]:
    facts = capture.keras
    found: dict[str, frozenset[VariableId]] = {}
    for layer in [*facts.layers_seen]:
        ids = facts._ids(listed(layer, "variables"))
        name = str(getattr(layer, "path", None) or layer.name)
        found[name] = found.get(name, frozenset()) | frozenset(map(VariableId, ids))
    return found


def _events(capture: Capture) -> Iterator[Event]:
    facts = capture.keras
    yield from _list_reads(facts)
    yield from capture.module_reads.events()
    yield from module_contents(capture)
    for change in facts.flags:
        layer = change.layer()
        ids = () if layer is None else facts._ids(listed(layer, "variables"))
        yield FlagSet(
            layer=change.name,
            value=change.value,
            where=span(change.place),
            variables=tuple(map(VariableId, ids)),
            order=change.order,
            step=change.step,
            without_effect=change.without_effect,
        )
    for call in facts.trained.values():
        yield ModelTrained(
            model=call.name,
            method=call.method,
            where=span(call.place),
            trainable=tuple(map(VariableId, call.trainable)),
            frozen=tuple(map(VariableId, call.frozen)),
            frozen_since_compile=tuple(map(VariableId, call.frozen_since)),
            thawed_since_compile=tuple(map(VariableId, call.thawed_since)),
            stale=call.stale,
            as_compiled=call.as_compiled,
            raised=call.raised,
            order=call.order,
            seen=call.count,
        )
    for model, compiled in facts.compiled.items():
        yield Compiled(model=model.name, where=span(compiled.place), has_loss=compiled.has_loss)
    yield from facts.history.events()
    yield from _layer_calls(facts)
    yield from _shared_calls(facts)
    yield from multiplied(capture)
    yield from tuple(dict.fromkeys(capture.events))
    for (clipped, summed), noised in capture.recorder.labels.clipped_sums.items():
        yield ClippedSum(clipped=span(clipped), summed=span(summed), noised=noised)
    for asked, total in capture.recorder.labels.carried_sums.items():
        yield RunningTotal(asked=span(asked), summed=span(total))
    yield from baked_state(capture)
    yield from capture.recorder.row_writes.events()
    yield from capture.sparse_updates.events()
    yield from capture.recorder.discarded.events()
    yield from capture.recorder.rebound_names.events()
    capture.flights.at_the_end()
    yield from capture.sentinel.events()
    yield from capture.update_watch.events()
    yield from capture.scale_watch.events()
    last = capture.update_watch.at_the_end()
    if last is not None:
        yield last


def _list_reads(facts: KerasFacts) -> Iterator[Event]:
    facts.look_at_lists()
    for read in facts.list_reads:
        layer = read.layer()
        later = read.later if read.later is not None or layer is None else facts._ids(listed(layer, read.attribute))
        yield UnbuiltRead(
            model=read.name,
            attribute=read.attribute,
            where=span(read.place),
            length=len(read.value),
            length_later=len(read.value) if later is None else len(later),
            used=read.used,
            consumed=is_looped_over(span(read.place)),
            variables=tuple(map(VariableId, later or ())),
        )


def _layer_calls(facts: KerasFacts) -> Iterator[Event]:
    for layer, calls in facts.calls.items():
        inner = all_layers(layer)
        refusal = facts.flag_uses.refusal(layer, inner)
        yield LayerCalled(
            layer=calls.name,
            where=span(calls.place),
            training_given=calls.flagged,
            training_omitted=calls.unflagged,
            mode_dependent=tuple(dict.fromkeys(name for each in inner if (name := _mode_dependent(each)))),
            penalties=tuple(dict.fromkeys(_penalties(inner, facts))),
            penalties_read=any(each in facts.losses_read for each in [layer, *facts.layers_seen]),
            variables=tuple(map(VariableId, facts._ids(listed(layer, "trainable_variables")))),
            refused=None if refusal is None else refusal[0],
            refused_for=None if refusal is None else refusal[1],
        )


def _shared_calls(facts: KerasFacts) -> Iterator[Event]:
    for layer, places in facts.called_at.items():
        spans = [s for place in places if (s := span(place)) is not None]
        names: dict[str, SourceSpan] = {}
        for each in spans:
            name = callee(each)
            if name is not None:
                names.setdefault(name, each)
        for first, second in itertools.permutations(names, 2):
            assigned = alias_assignment(names[first].file, first, second)
            if assigned is not None:
                yield SharedCalls(
                    names=(first, second),
                    assigned=assigned,
                    places=(names[first], names[second]),
                    variables=tuple(map(VariableId, facts._ids(listed(layer, "trainable_variables")))),
                )


def _mode_dependent(layer: Any) -> str | None:
    """A layer whose output depends on the training flag, by what it has, not by its class."""
    if hasattr(layer, "moving_mean") and getattr(layer, "trainable", True):
        return str(layer.name)
    rate = getattr(layer, "rate", None)
    if isinstance(rate, (int, float)) and rate > 0 and "ropout" in type(layer).__name__:
        return str(layer.name)
    return None


def _penalties(layers: list[Any], facts: KerasFacts) -> Iterator[str]:
    for layer in layers:
        if layer in facts.losses_added:
            yield f"{layer.name}.add_loss"
        if getattr(layer, "activity_regularizer", None) is not None:
            yield f"{layer.name}.activity_regularizer"
        for variable in listed(layer, "trainable_variables"):
            if getattr(variable, "regularizer", None) is not None:
                yield str(getattr(variable, "path", variable.name))
