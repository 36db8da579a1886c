"""Which of the user's functions were traced into graphs that ran again, and on which Python values they relied."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

from whygrad.backends.tensorflow.log.function_graphs import graphs_inside

_KEPT_NUMBERS = 64  # of one graph


class Relied(NamedTuple):
    """A Python number or a network as it was when a function was traced that mentions its name."""

    code: CodeType
    holder: dict[str, Any]  # the function's globals, or the attributes of its `self`
    name: str
    value: int | float | weakref.ref[Any]
    attribute: bool

    @property
    def is_network(self) -> bool:
        return isinstance(self.value, weakref.ref)

    @property
    def is_changed(self) -> bool:
        if isinstance(self.value, weakref.ref):
            now = self.holder.get(self.name)
            return now is not self.value() and _is_network(now)
        return bool(self.holder.get(self.name, self.value) != self.value)


class TracedRuns:
    def __init__(self) -> None:
        self._codes: weakref.WeakKeyDictionary[Any, set[CodeType]] = weakref.WeakKeyDictionary()
        self._numbers: weakref.WeakKeyDictionary[Any, list[Relied]] = weakref.WeakKeyDictionary()
        self._runs: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._relied: weakref.WeakKeyDictionary[Any, list[Relied]] = weakref.WeakKeyDictionary()
        self.changed: dict[tuple[CodeType, str, bool], Relied] = {}  # numbers that were others when the graph ran again

    def is_news(self, code: CodeType, graph: Any) -> bool:
        codes = self._codes.get(graph)
        return codes is None or code not in codes

    def traced(self, frame: FrameType, graph: Any) -> None:
        """The function of a frame is traced into a graph."""
        codes = self._codes.get(graph)
        if codes is None:
            codes = self._codes[graph] = set()
        codes.add(frame.f_code)
        numbers = self._numbers.setdefault(graph, [])
        if len(numbers) < _KEPT_NUMBERS:
            numbers.extend(_relied_on(frame))

    def ran(self, graphs: tuple[Any, ...]) -> None:
        for graph in graphs:
            if graph is None:
                continue
            runs = self._runs[graph] = self._runs.get(graph, 0) + 1
            if runs == 1:
                inside = [each for each, _ in graphs_inside(graph)]
                self._relied[graph] = [number for each in inside for number in self._numbers.get(each, ())]
                continue
            for number in self._relied[graph]:
                if number.is_changed:
                    self.changed.setdefault((number.code, number.name, number.attribute), number)

    def repeated(self) -> set[CodeType]:
        """The functions whose Python ran while tracing only, and whose graph ran again after that."""
        found = set[CodeType]()
        for graph, runs in list(self._runs.items()):
            if runs > 1:
                found.update(code for each, _ in graphs_inside(graph) for code in self._codes.get(each, ()))
        for graph, codes in list(self._codes.items()):
            if "Dataset" in str(getattr(graph, "name", "")):  # run by the pipeline, once for each element
                found |= codes
        return found


def _relied_on(frame: FrameType) -> Iterator[Relied]:
    code, scope = frame.f_code, frame.f_globals
    holder = getattr(frame.f_locals.get("self"), "__dict__", None)
    for name in code.co_names:
        for values in (scope, holder) if isinstance(holder, dict) else (scope,):
            value: Any = values.get(name)
            if is_number(value):
                yield Relied(code, values, name, value, values is holder)
            elif _is_network(value):
                yield Relied(code, values, name, weakref.ref(value), values is holder)


def is_number(value: Any) -> bool:
    """A number of Python's own."""
    return isinstance(value, (int, float)) and not hasattr(value, "dtype")


def _is_network(value: Any) -> bool:
    """Something that holds weights: a layer, a model, an optimizer."""
    kind = type(value)
    return hasattr(kind, "trainable_variables") or hasattr(kind, "apply_gradients")
