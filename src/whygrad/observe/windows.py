"""Variables that gradients are added up in by compiled code: how often they are added to, and set back."""

from __future__ import annotations

from collections.abc import Iterable

from whygrad.graph.ledger import Write, WriterKind
from whygrad.observe.assignments import Assignments
from whygrad.observe.pairs import Pair


class Windows:
    """How many micro-batches compiled code added up for each update."""

    def __init__(self, writes: Iterable[Write], assignments: Assignments) -> None:
        self.assignments = assignments
        self._runs: dict[int, int] = {}
        self._set: set[int] = set()  # variables that anybody but an optimizer wrote to
        for write in writes:
            if write.kind is WriterKind.OPTIMIZER:
                continue
            self._set.add(write.variable)
            if write.compiled and not write.conditional:
                self._runs[write.variable] = max(write.count, self._runs.get(write.variable, 0))

    def size(self, pair: Pair, updates: int) -> int | None:
        """None where it is not known: the gradient was not read from a variable, or no update has been made."""
        if not pair.accumulator or pair.label is None or len(pair.label.requests) != 1 or not updates:
            return None
        return self._runs.get(pair.accumulator, 0) // updates

    def never_set_back(self, pair: Pair, updates: int, before: int | None, counter: int | None) -> bool:
        """Whether a traced accumulator was applied more often than it was set back: some gradients count twice.

        `updates` is what the optimizer has counted by now, `before` what it had counted before the first update that
        was seen, `counter` the variable it counts in, which a checkpoint may have set.
        """
        if not pair.accumulator or self.assignments.traced_resets[pair.accumulator]:
            return False
        resets = self.assignments.resets[pair.accumulator]
        if not resets:
            return updates > 1
        return before is not None and updates - before > resets + 1 and counter not in self._set
