"""The batch that a compiled `fit` step takes from its data set, kept next to the step.

While the step is traced, each tensor the iterator gives is also assigned to a variable of ours. Nothing is copied (the
variable shares the buffer) and nothing stands between two ops of the step, so its numbers are the same bits.
"""

from __future__ import annotations

import weakref
from typing import Any, Final

from whygrad.backends.tensorflow import compat

TAPPED: Final = frozenset({"IteratorGetNext"})


class Taps:
    """The holders of each graph, one for each tensor of its batch."""

    def __init__(self) -> None:
        self._holders: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()
        self.numbers: set[int] = set()  # the handles of all holders
        self._spoilt: weakref.WeakSet[Any] = weakref.WeakSet()  # graphs that take several batches

    def put(self, graph: Any, outputs: Any) -> None:
        """Called when a traced op gives a batch."""
        if graph in self._holders or graph in self._spoilt:
            self._holders.pop(graph, None)
            self._spoilt.add(graph)
            return
        self._holders[graph] = [compat.tap(graph, tensor) for tensor in outputs]
        self.numbers.update(compat.tensor_id(holder) for holder in self._holders[graph])

    def batch(self, graph: Any) -> tuple[Any, ...] | None:
        """The last batch that the function took."""
        holders = self._holders.get(graph)
        return None if holders is None else tuple(compat.read_handle(holder) for holder in holders)
