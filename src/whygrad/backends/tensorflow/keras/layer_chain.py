"""Which layers made a tensor, by the calls of layers: what each was given and what it gave."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.keras.layer_facts import activation_of, bends, facts_of, is_single, units_of
from whygrad.graph import OpKind
from whygrad.graph.learning import Activation, LayerFacts
from whygrad.observe.fact import Maker, OpFact
from whygrad.observe.place import Place, span

_MOST_CALLS: Final = 4096  # the oldest half is forgotten then
_MOST_GIVEN: Final = 8
_MOST_LAYERS: Final = 256  # behind one tensor
_MOST_OPS: Final = 24  # between two layers
_MOST_AT_ONCE: Final = 16  # calls of one layer outside of functions: after them nothing new is learned of it


@dataclass(frozen=True, slots=True)
class _Call:
    layer: Any  # weakly
    given: tuple[int, ...]
    units: int | None
    whole: int | None  # how many rows of whole numbers it is given; None: not known, or other numbers


class LayerChain:
    """Keeps the calls of late, by the numbers of the tensors they gave."""

    def __init__(self, made_at: Callable[[Any], Place]) -> None:
        self._made_at = made_at
        self._calls: dict[int, _Call] = {}
        self._uses: dict[int, int] = {}
        self._at_once: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.given: deque[int] = deque(maxlen=_MOST_GIVEN)  # the numbers of what outermost calls gave last
        self.entered: tuple[Any, tuple[Any, ...]] | None = None  # the last outermost call: layer and inputs, weakly

    def called(
        self, layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, *, outermost: bool
    ) -> None:
        """A layer gave a result; of layers inside of one another that give the same, the innermost counts."""
        if compat.current_graph() is None:
            calls = self._at_once.get(layer, 0)
            if calls >= _MOST_AT_ONCE:
                return
            self._at_once[layer] = calls + 1
        given = [each for each in compat.flatten((args[:1], *kwargs.values())) if compat.id_of(each) is not None]
        given += [each for each in compat.flatten(args[1:]) if compat.id_of(each) is not None]
        numbers = tuple(compat.tensor_id(each) for each in given)
        if len(self._calls) >= _MOST_CALLS:
            self._calls = dict(list(self._calls.items())[_MOST_CALLS // 2 :])
            self._uses = {}
        fresh = False
        whole = _rows(given[0]) if given and compat.is_integer(given[0]) else None
        for tensor in compat.flatten(result):
            number = compat.id_of(tensor)
            if number is not None and number not in self._calls and number not in numbers:
                self._calls[number] = _Call(weakref.ref(layer), numbers, units_of(layer, tensor), whole)
                fresh = True
        for number in numbers if fresh else ():
            self._uses[number] = self._uses.get(number, 0) + 1
        if outermost:
            self.given += [number for each in compat.flatten(result) if (number := compat.id_of(each)) is not None]
            arrays = [each for each in compat.flatten(args[:1]) if hasattr(each, "shape")]
            self.entered = weakref.ref(layer), tuple(map(weakref.ref, arrays))

    def inputs(self) -> list[Any]:
        """What the last model that was called was given, as far as it is still there; a layer alone is part of one."""
        model = self.model()
        if self.entered is None or model is None or is_single(model):
            return []
        return [each for ref in self.entered[1] if (each := ref()) is not None]

    def model(self) -> Any:
        return None if self.entered is None else self.entered[0]()

    def behind(self, tensor: Any, maker: Maker) -> Iterator[tuple[Any, LayerFacts]]:
        """The layers that made a tensor, weakly, each after the one it feeds; ops between them are passed through."""
        waiting: list[tuple[int, int | None]] = [(compat.tensor_id(tensor), None)]
        seen: set[int] = set()
        position = 0
        batch = _rows(tensor)
        while waiting and position < _MOST_LAYERS:
            number, into = waiting.pop(0)
            for found, applied in self._layers_at(number, maker):
                call = self._calls[found]
                layer = call.layer()
                if layer is None or found in seen:
                    continue
                seen.add(found)
                shared = self._uses.get(found, 0) > 1
                facts = facts_of(layer, call.units, span(self._made_at(layer)), into, shared=shared)
                positions = call.whole is not None and call.whole != batch
                yield call.layer, replace(_after(facts, applied), positions=positions)
                waiting += [(each, position) for each in call.given]
                position += 1

    def _layers_at(self, number: int, maker: Maker) -> list[tuple[int, OpFact | None]]:
        """The calls that gave a tensor, each with the activation after it; inside of a layer of the user's own, its."""
        call = self._calls.get(number)
        layer = None if call is None else call.layer()
        if call is not None and layer is not None and is_single(layer):
            return [(number, None)]
        inner = list(self._through_ops(number, maker))
        return inner or ([] if call is None else [(number, None)])

    def _through_ops(self, number: int, maker: Maker) -> Iterator[tuple[int, OpFact | None]]:
        """Layers whose results ops made into this tensor, and the last op that bends on the way; a product with weights
        is a layer written by hand, and ends it."""
        waiting: list[tuple[int, OpFact | None]] = [(number, None)]
        seen = {number}
        for _ in range(_MOST_OPS):
            if not waiting:
                return
            here, applied = waiting.pop(0)
            op = maker(here)
            for before in () if op is None or op.kind in (OpKind.CONTRACT, OpKind.SHAPE) else op.inputs:
                if before in seen or op is None:
                    continue
                seen.add(before)
                bending = applied or (op if bends(op) else None)
                call = self._calls.get(before)
                layer = None if call is None else call.layer()
                if layer is not None and is_single(layer):
                    yield before, bending
                else:
                    waiting.append((before, bending))


def _rows(tensor: Any) -> int | None:
    shape = compat.shape_of(tensor)
    return shape[0] if shape else None


def _after(facts: LayerFacts, op: OpFact | None) -> LayerFacts:
    """A layer with the activation that an op applies to its result; what has one keeps its own."""
    if op is None:
        return facts
    if facts.activation is not Activation.LINEAR:
        return replace(facts, bent=True)
    shape = op.outputs[0].shape
    activation = activation_of(op)
    units = shape[-1] if activation is Activation.SOFTMAX and shape else facts.units
    return replace(facts, activation=activation, activated=span(op.place), units=units)
