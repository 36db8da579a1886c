"""Replicas whose gradients are not finite: an event of the run, each time that it is others than before."""

from __future__ import annotations

from typing import Final

from whygrad.store import RunWriter
from whygrad.store.rows import Array
from whygrad.training.monitor.row_layout import RowLayout
from whygrad.training.replicas import this_worker

EVENT: Final = "not finite"
_MOST: Final = 64  # events


class ReplicaTrouble:
    """Looks at what the replicas of this process contributed to each step."""

    def __init__(self, writer: RunWriter) -> None:
        self.first: str | None = None  # in a sentence, the first time that some of them were not finite
        self._writer = writer
        self._worker = this_worker()
        self._bad: tuple[int, ...] = ()
        self._noted = 0

    def note(self, layout: RowLayout, steps: Array, data: Array) -> None:
        """Rows in the order of their steps."""
        counts = layout.shares(data)[1]
        for step, row in zip(steps.tolist(), counts, strict=True):
            bad = tuple(number for number, count in zip(layout.replicas, row.tolist(), strict=True) if count > 0)
            if bad == self._bad:
                continue
            self._bad = bad
            if bad and self._noted < _MOST:
                self._noted += 1
                self._tell(step, bad, layout.replicas)

    def _tell(self, step: int, bad: tuple[int, ...], all_here: tuple[int, ...]) -> None:
        name = None if self._worker is None else self._worker.name
        self._writer.add_event(EVENT, {"replicas": bad, "of": len(all_here), "worker": name}, step)
        if self.first is None and (name is not None or len(bad) < len(all_here)):
            whose = f"replica{'s' if len(bad) > 1 else ''} {', '.join(map(str, bad))}"
            where = "" if name is None else f" ({name})"
            others = "" if len(bad) == len(all_here) else ", and those of the others were"
            self.first = f"the gradients of {whose}{where} were not finite at step {step}{others}"
