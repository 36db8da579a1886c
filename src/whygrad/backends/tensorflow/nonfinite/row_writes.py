"""Rows that compiled steps put in place of others: which rows, asked of a step that was kept, after the run."""

from __future__ import annotations

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.nonfinite.replay.compiled import KeptSteps
from whygrad.backends.tensorflow.nonfinite.watched import Watched


def look_at_rows(watched: Watched, kept: KeptSteps) -> None:
    """Each such op of a traced function is looked at once, where it writes what was made of a gradient."""
    observed = watched.recorder.observed
    for write in observed.row_writes:
        graph, label, numbers = write.graph(), write.label, write.record.inputs
        if label is None or write.looked or graph is None:
            continue
        try:
            with watched.unseen(), compat.eager_scope():
                for _, known in kept.calls(graph):
                    write.looked = True
                    if all(number in known for number in numbers):
                        tensors = [known[number].tensor for number in numbers]
                        observed.rows_written(write.record, label, tensors, compiled=True)
        except Exception:  # nothing is known to be wrong: there is nothing to say
            write.looked = True
