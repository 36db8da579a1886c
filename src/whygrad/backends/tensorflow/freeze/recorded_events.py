"""What happened beside requests and updates, as events of the recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.freeze.baked_state import baked_state
from whygrad.backends.tensorflow.keras.facts import KerasFacts, all_layers, listed
from whygrad.backends.tensorflow.keras.module_contents import module_contents
from whygrad.backends.tensorflow.keras.multiplied_layers import multiplied
from whygrad.backends.tensorflow.log.positions import span
from whygrad.graph import (
    Event,
    VariableId,
)
from whygrad.graph.event import (
    Compiled,
    FlagSet,
    LayerCalled,
    ModelTrained,
    UnbuiltRead,
)
from whygrad.source.naming import is_looped_over

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture


def events_of(capture: Capture) -> Iterator[Event]:
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
            added=tuple(map(VariableId, call.added)),
            as_compiled=call.as_compiled,
            raised=call.raised,
            order=call.order,
            seen=call.count,
        )
    for model, compiled in facts.compiled.items():
        yield Compiled(model=model.name, where=span(compiled.place), has_loss=compiled.has_loss)
    yield from facts.history.events()
    yield from _layer_calls(facts)
    yield from facts.called_at.events()
    yield from multiplied(capture)
    yield from tuple(dict.fromkeys(capture.events))
    yield from baked_state(capture)
    yield from capture.recorder.folds.events()
    yield from capture.sparse_updates.events()
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
