"""Layers and variables that a multiplied list repeats: `[Dense(4)] * 3` is one layer three times."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.keras.facts import listed
from whygrad.backends.tensorflow.log.positions import span
from whygrad.graph import VariableId
from whygrad.graph.event import Multiplied
from whygrad.source.naming import multiplication

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture


def multiplied(capture: Capture) -> Iterator[Multiplied]:
    facts = capture.keras
    for layer in list(facts.layers_seen):
        found = _multiplication_of(layer, facts.made.get(layer)) or _made_in(layer, facts.made_around.get(layer, ()))
        if found is not None:
            ids = facts._ids(listed(layer, "variables"))
            name = str(getattr(layer, "path", None) or layer.name)
            yield Multiplied(name=name, where=found, variables=tuple(map(VariableId, ids)))
    for entry in list(capture.variables.entries.values()):
        variable = entry.reference() if entry.reference is not None else None
        found = None if variable is None or not entry.trainable else _multiplication_of(variable, entry.born)
        if found is not None:
            yield Multiplied(name=entry.name, where=found, variables=(VariableId(entry.id),))


def _multiplication_of(thing: Any, made: Any) -> Any:
    """Where the list around the expression that made it is multiplied, if that repeats it."""
    where = span(made)
    found = None if where is None else multiplication(where)
    if found is None:
        return None
    place, times = found
    return place if (times is not None and times > 1) or _is_repeated(thing) else None


def _made_in(thing: Any, around: tuple[Any, ...]) -> Any:
    """The same where a function made it: of all that the function made, what it returned is repeated."""
    spans = (where for place in around if (where := span(place)) is not None)
    found = next((place for where in spans if (place := multiplication(where)) is not None), None)
    return found[0] if found is not None and _is_repeated(thing) else None


def _is_repeated(thing: Any) -> bool:
    holders = [holder for holder in gc.get_referrers(thing) if isinstance(holder, (list, tuple, dict))]
    items = (holder.values() if isinstance(holder, dict) else holder for holder in holders)
    return any(sum(item is thing for item in each) > 1 for each in items)
