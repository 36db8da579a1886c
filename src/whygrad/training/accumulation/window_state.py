"""A `Window` as arrays, for files that do not go through `tf.train.Checkpoint`, and checks on what was restored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from whygrad.errors import AccumulationError

_SAME = "restore it into the model and the kind of training step that it was saved from"
_COUNTERS = ("microbatches", "skipped", "dropped", "total", "unit", "weight")


def state_of(window: Any) -> dict[str, Any]:
    """Everything a half-full window holds; an empty one is a few numbers."""
    values = {name: getattr(window, name).numpy() for name in _COUNTERS}
    if window.buffers:
        values["missing"] = window.missing.numpy()
    if int(values["microbatches"]):
        for i, buffer in enumerate(window.buffers):
            values |= {f"buffer_{i}_{key}": array for key, array in buffer.state().items()}
    return values


def restore(window: Any, state: dict[str, Any]) -> None:
    """Go on from a saved state, now or as soon as the variables are known."""
    for name in _COUNTERS:
        getattr(window, name).assign(np.asarray(state[name]))
    window.held.pending = {k: np.asarray(v) for k, v in state.items() if k == "missing" or k.startswith("buffer_")}
    if window.buffers:
        load_pending(window)


def load_pending(window: Any) -> None:
    """Put a state that was restored early into the buffers, now that they exist."""
    pending = window.held.pending
    if not pending:
        return
    if len(pending["missing"]) != len(window.buffers):
        raise AccumulationError(
            f"the saved window has {len(pending['missing'])} variables, this model has {len(window.buffers)}",
            help="load it into the model that it was saved from",
        )
    window.held.pending = {}
    window.missing.assign(pending["missing"])
    for i, buffer in enumerate(window.buffers):
        start = f"buffer_{i}_"
        own = {key.removeprefix(start): value for key, value in pending.items() if key.startswith(start)}
        if own:
            buffer.load(own)
            buffer.kind.assign(buffer.KIND)


@contextmanager
def restoring(count: int) -> Iterator[None]:
    """Our error instead of TensorFlow's where a checkpoint fills in sums of other variables."""
    try:
        yield
    except ValueError as error:
        raise AccumulationError(
            f"the half-full window that was restored does not fit these {count} variables: {error}", help=_SAME
        ) from error


def check_restored(window: Any) -> None:
    """Raise if a checkpoint brought a half-full window whose sums do not fit these buffers; mark them as in use."""
    strangers = [] if window.is_empty_now() else [b for b in window.buffers if int(b.kind.numpy()) != b.KIND]
    if strangers:
        raise AccumulationError(
            f"the half-full window that was restored has no sums for {len(strangers)} "
            f"of {len(window.buffers)} variables",
            help=_SAME,
        )
    for buffer in window.buffers:
        buffer.kind.assign(buffer.KIND)
