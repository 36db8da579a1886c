"""Which layers made a tensor, by the calls of layers: what each was given and what it gave."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.keras.layer_facts import facts_of
from whygrad.graph.learning import LayerFacts
from whygrad.observe.place import Place, span

_MOST_CALLS: Final = 4096  # the oldest half is forgotten then
_MOST_LAYERS: Final = 256  # behind one tensor
_MOST_AT_ONCE: Final = 8192  # calls outside of functions; after them nothing new is learned of their layers


@dataclass(frozen=True, slots=True)
class _Call:
    layer: Any  # weakly
    given: tuple[int, ...]
    units: int | None


class LayerChain:
    """Keeps the calls of late, by the numbers of the tensors they gave."""

    def __init__(self, made_at: Callable[[Any], Place]) -> None:
        self._made_at = made_at
        self._calls: dict[int, _Call] = {}
        self._uses: dict[int, int] = {}
        self._at_once = 0
        self.entered: tuple[Any, tuple[Any, ...]] | None = None  # the last outermost call: layer and inputs, weakly

    def called(
        self, layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, *, outermost: bool
    ) -> None:
        """A layer gave a result; of layers inside of one another that give the same, the innermost counts."""
        if compat.current_graph() is None:
            self._at_once += 1
            if self._at_once > _MOST_AT_ONCE:
                return
        given = [each for each in compat.flatten((args[:1], *kwargs.values())) if compat.id_of(each) is not None]
        given += [each for each in compat.flatten(args[1:]) if compat.id_of(each) is not None]
        numbers = tuple(compat.tensor_id(each) for each in given)
        if len(self._calls) >= _MOST_CALLS:
            self._calls = dict(list(self._calls.items())[_MOST_CALLS // 2 :])
            self._uses = {}
        fresh = False
        for tensor in compat.flatten(result):
            number = compat.id_of(tensor)
            if number is not None and number not in self._calls and number not in numbers:
                shape = getattr(tensor, "shape", None)
                units = shape[-1] if shape is not None and shape.rank else None
                self._calls[number] = _Call(weakref.ref(layer), numbers, units)
                fresh = True
        for number in numbers if fresh else ():
            self._uses[number] = self._uses.get(number, 0) + 1
        if outermost:
            arrays = [each for each in compat.flatten(args[:1]) if hasattr(each, "shape")]
            self.entered = weakref.ref(layer), tuple(map(weakref.ref, arrays))

    def inputs(self) -> list[Any]:
        """What the last outermost call was given, as far as it is still there."""
        return [] if self.entered is None else [each for ref in self.entered[1] if (each := ref()) is not None]

    def model(self) -> Any:
        return None if self.entered is None else self.entered[0]()

    def behind(self, tensor: Any) -> Iterator[tuple[Any, LayerFacts]]:
        """The layers that made a tensor, weakly, each after the one it feeds."""
        waiting: list[tuple[int, int | None]] = [(compat.tensor_id(tensor), None)]
        seen: set[int] = set()
        position = 0
        while waiting and position < _MOST_LAYERS:
            number, into = waiting.pop(0)
            call = self._calls.get(number)
            layer = None if call is None else call.layer()
            if call is None or layer is None or number in seen:
                continue
            seen.add(number)
            shared = self._uses.get(number, 0) > 1
            yield call.layer, facts_of(layer, call.units, span(self._made_at(layer)), into, shared=shared)
            waiting += [(each, position) for each in call.given]
            position += 1
