"""The batch that a compiled `fit` step takes from its data set, kept next to the step.

While the step is traced, each tensor the iterator gives is also assigned to a variable of ours. Nothing is copied (the
variable shares the buffer) and nothing stands between two ops of the step, so its numbers are the same bits.
"""

from __future__ import annotations

import weakref
from typing import Any, Final

from whygrad.backends.tensorflow import compat

TAPPED: Final = frozenset({"IteratorGetNext", "IteratorGetNextAsOptional"})


class Taps:
    """The holders of each graph, one for each tensor of its batches: one batch for each replica, or for each step."""

    def __init__(self) -> None:
        self._holders: weakref.WeakKeyDictionary[Any, list[list[Any]]] = weakref.WeakKeyDictionary()
        self.numbers: set[int] = set()  # the handles of all holders

    def put(self, graph: Any, outputs: Any) -> None:
        """Called when a traced op gives a batch."""
        holders = [compat.tap(graph, tensor) for tensor in outputs]
        self._holders.setdefault(graph, []).append(holders)
        self.numbers.update(map(compat.tensor_id, holders))

    def batches(self, graph: Any) -> list[tuple[Any, ...]] | None:
        """What the function took when it last ran, in the order in which it was traced."""
        taken = self._holders.get(graph)
        return None if taken is None else [tuple(map(compat.read_handle, holders)) for holders in taken]
