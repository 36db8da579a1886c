"""Where user code calls each layer: one network under two names shows there, also after the network is gone."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from whygrad.backends.tensorflow.log.positions import span
from whygrad.graph import VariableId
from whygrad.graph.event import SharedCalls
from whygrad.source import SourceSpan
from whygrad.source.naming import alias_assignment, callee

_KEPT = 32  # places of one layer
_LAYERS = 4096


@dataclass(slots=True)
class Called:
    name: str
    places: set[Any] = field(default_factory=set)
    variables: tuple[int, ...] = ()


class CalledPlaces:
    def __init__(self) -> None:
        self._of: weakref.WeakKeyDictionary[Any, Called] = weakref.WeakKeyDictionary()
        self._all: list[Called] = []
        self._places: set[Any] = set()

    def __contains__(self, place: Any) -> bool:
        """Whether a layer was called there."""
        return place in self._places

    def note(self, layer: Any, name: str, place: Any, variables: Callable[[], tuple[int, ...]]) -> None:
        """A call; a layer may be built by its first, so its variables are asked for at each new place."""
        self._places.add(place)
        called = self._of.get(layer)
        if called is None:
            called = self._of[layer] = Called(name)
            if len(self._all) < _LAYERS:
                self._all.append(called)
        if place not in called.places and len(called.places) < _KEPT:
            called.places.add(place)
            called.variables = variables() or called.variables

    def by_name(self) -> dict[str, set[Any]]:
        """The places of each layer."""
        found: dict[str, set[Any]] = {}
        for called in self._all:
            found.setdefault(called.name, set()).update(called.places)
        return found

    def events(self) -> Iterator[SharedCalls]:
        """Layers that are called by two names, one of which was assigned from the other."""
        for called in self._all:
            names: dict[str, SourceSpan] = {}
            for each in [s for place in called.places if (s := span(place)) is not None]:
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
                        variables=tuple(map(VariableId, called.variables)),
                    )
