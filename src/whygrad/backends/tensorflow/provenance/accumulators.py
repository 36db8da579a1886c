"""Variables that gradients are added up in by compiled code: what sets them back, and how often they are added to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whygrad.graph.ledger import WriterKind

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.listen.optimizers import PairEntry, UpdateEntry
    from whygrad.backends.tensorflow.log.recorder import Recorder

_ADDING = ("Add", "AddV2", "Sub")


def adds_to_itself(recorder: Recorder, handle: int, value: Any, graph: Any) -> bool:
    """Whether a value that is assigned to a variable is the variable's own plus something: Keras adds that way."""
    if graph is None:
        made = recorder.producers.get(getattr(value, "_id", 0))
        inputs = made.inputs if made is not None and made.type in _ADDING else ()
        return any(_reads(recorder, number, handle) for number in inputs)
    op = _maker(value)
    return op is not None and op.type in _ADDING and any(_is_read(recorder, each, handle, graph) for each in op.inputs)


def _reads(recorder: Recorder, number: int, handle: int) -> bool:
    made = recorder.producers.get(number)
    return made is not None and made.type == "ReadVariableOp" and made.inputs[0] == handle


def _is_read(recorder: Recorder, tensor: Any, handle: int, graph: Any) -> bool:
    op = _maker(tensor)
    return op is not None and op.type == "ReadVariableOp" and recorder._outermost(op.inputs[0]._id, graph) == handle


def _maker(tensor: Any) -> Any:
    op = getattr(tensor, "op", None)
    while op is not None and op.type in ("Identity", "Cast"):
        op = op.inputs[0].op
    return op


class Windows:
    """How many micro-batches compiled code added up for each update."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self._runs: dict[int, int] = {}
        for write in capture.recorder.ledger.writes():
            if write.compiled and not write.conditional and write.kind is not WriterKind.OPTIMIZER:
                self._runs[write.variable] = max(write.count, self._runs.get(write.variable, 0))

    def size(self, entry: UpdateEntry, pair: PairEntry) -> int | None:
        """None where it is not known: the gradient was not read from a variable, or no update has been made."""
        label = pair.label
        optimizer = entry.reference() if entry.reference is not None else None
        if label is None or not label.slot or not pair.compiled or len(label.requests) != 1 or optimizer is None:
            return None
        updates = int(optimizer.iterations.numpy())
        return self._runs.get(label.slot, 0) // updates if updates else None

    def never_set_back(self, entry: UpdateEntry, pair: PairEntry) -> bool:
        """A traced accumulator that was applied more often than it was set back: some gradients count twice."""
        label = pair.label
        slot = self.capture.variables.entries.get(label.slot) if label is not None and pair.compiled else None
        optimizer = entry.reference() if entry.reference is not None else None
        if slot is None or slot.resets_traced or optimizer is None:
            return False
        updates = int(optimizer.iterations.numpy())
        if not slot.resets:
            return updates > 1
        return (
            entry.iterations is not None and updates - entry.iterations > slot.resets + 1 and not self._set(optimizer)
        )

    def _set(self, optimizer: Any) -> bool:
        """Whether anybody but the optimizer itself has set its counter, as when a checkpoint is restored."""
        counter = self.capture.variables.of(optimizer.iterations)
        writes = self.capture.recorder.ledger.writes() if counter is not None else ()
        return any(w.variable == counter.id and w.kind is not WriterKind.OPTIMIZER for w in writes if counter)
