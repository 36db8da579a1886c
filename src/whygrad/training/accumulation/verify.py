"""`wg.verify_accumulation`: do these micro-batches add up to the big batch, on the user's own model?"""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from whygrad.arguments import check_callable, check_choice, check_number, given
from whygrad.backends.tensorflow.keras.recorded_calls import recorded_calls
from whygrad.errors import AccumulationError
from whygrad.training.accumulation.agreement import AccumulationCheck, Coupling, VariableAgreement, tolerance_of
from whygrad.training.accumulation.example_coupling import couplings, ranges
from whygrad.training.accumulation.gradient_of_step import Outcome, run_step
from whygrad.training.variables import name_of

_FLOOR = 1e-3  # a gradient this much smaller than all together is measured against that, or rounding would show


def verify_accumulation(
    step: Callable[..., Any],
    batch: Any,
    splits: int | Sequence[int] = 2,
    *,
    reduction: str = "mean",
    weight: Callable[..., Any] | None = None,
    tolerance: float | None = None,
) -> AccumulationCheck:
    """Compare the gradient of `batch` with that accumulated over its parts, variable by variable.

    `step(*batch)` returns the loss; a `train_step` that also updates will do, and so will a compiled Keras model. Every
    variable is put back afterwards. `splits`: the sizes of the parts, or how many. `weight(*part)` gives what a part
    counts for, where that is not its number of examples; with `reduction="sum"` parts are added up.
    `tolerance`: how far the two may differ, as a share; by default what the dtype allows.

    Where they differ, the result names the layer or loss that couples the examples, such as batch normalisation, or
    that draws random numbers, such as dropout. Print it, or use it as a bool.
    """
    if not hasattr(step, "train_step"):
        advice = "pass the function, `verify_accumulation(step, (x, y))`, not what it returned"
        check_callable("step", step, help=advice, error=AccumulationError)
    check_choice("reduction", reduction, ("mean", "sum"), error=AccumulationError)
    if weight is not None:
        check_callable("weight", weight, help="`weight=lambda x, y: len(x)`", error=AccumulationError)
    if tolerance is not None:
        check_number("tolerance", tolerance, "a number of at least 0", lambda number: number >= 0)
    parts, sizes = _split(batch, splits)
    with _eagerly(), _Snapshot() as restore:
        with recorded_calls() as calls:
            whole = run_step(step, batch, weight, sum(sizes))
        if not restore.covers(whole.variables.values()):  # it has only now been built: begin again, with all of it
            return verify_accumulation(step, batch, splits, reduction=reduction, weight=weight, tolerance=tolerance)
        restore()
        pieces = []
        for part, size in zip(parts, sizes, strict=True):
            pieces.append(run_step(step, part, weight, size))
            restore()
        loss, gradients = _combine(pieces, summed=reduction == "sum")
        limit = tolerance_of(tf.as_dtype(each.dtype) for each in whole.variables.values())
        limit = limit if tolerance is None else tolerance
        variables = tuple(_agreements(whole, gradients, limit))
        causes: list[Coupling] = []
        if not all(variable.agrees for variable in variables):
            causes = couplings(calls, sizes, restore) or [_in_step(step, whole, pieces)]
    return AccumulationCheck(
        sizes=tuple(sizes),
        loss=whole.loss,
        accumulated_loss=loss,
        variables=variables,
        couplings=tuple(causes),
        tolerance=limit,
    )


def _split(batch: Any, splits: int | Sequence[int]) -> tuple[list[Any], list[int]]:
    leaves = [leaf for leaf in tf.nest.flatten(batch) if getattr(leaf, "shape", ())]
    if not leaves:
        raise AccumulationError("the batch holds no array", help="pass the arguments of the step, such as (x, y)")
    total = int(leaves[0].shape[0])
    if isinstance(splits, int) and 1 <= splits <= total:
        small, more = divmod(total, splits)
        sizes = [small + (i < more) for i in range(splits)]
    elif isinstance(splits, list | tuple) and all(isinstance(size, int) and size > 0 for size in splits):
        sizes = list(splits)
    else:
        raise AccumulationError(
            f"`splits` cannot be {given(splits)} for a batch of {total}",
            help=f"pass how many parts there are, from 1 to {total}, or a list of their sizes",
        )
    if sum(sizes) != total:
        raise AccumulationError(
            f"the sizes in `splits` add up to {sum(sizes)}, and the batch has {total}",
            help="give sizes that add up to the batch",
        )

    def part(start: int, end: int) -> Any:
        return tf.nest.map_structure(
            lambda leaf: leaf[start:end] if getattr(leaf, "shape", ()) and leaf.shape[0] == total else leaf, batch
        )

    return [part(start, end) for start, end in ranges(sizes)], sizes


class _Snapshot:
    """Every variable alive, with the value it had; calling it sets them back, and so does leaving it."""

    def __init__(self) -> None:
        self._saved: dict[int, tuple[Any, Any]] = {}
        for candidate in gc.get_objects():
            if isinstance(candidate, tf.Variable):
                try:
                    self._saved[id(candidate)] = candidate, tf.identity(candidate)
                except (tf.errors.OpError, ValueError, AttributeError):
                    continue  # never initialised, never made to its end, or of a graph that is gone: no step can use it

    def __call__(self) -> None:
        for variable, value in self._saved.values():
            variable.assign(value)

    def __enter__(self) -> _Snapshot:
        return self

    def __exit__(self, *error: object) -> None:
        self()

    def covers(self, variables: Iterable[Any]) -> bool:
        return all(id(variable) in self._saved for variable in variables)


@contextmanager
def _eagerly() -> Iterator[None]:
    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(before)


def _combine(pieces: Sequence[Outcome], *, summed: bool) -> tuple[float, dict[int, Any]]:
    """The loss and the gradients of all pieces together."""
    weight = 1.0 if summed else sum(piece.weight for piece in pieces)
    sums: dict[int, Any] = {}
    for piece in pieces:
        factor = (1.0 if summed else piece.weight) / weight
        for key, gradient in piece.gradients.items():
            if gradient is not None:
                sums[key] = sums.get(key, 0.0) + tf.cast(gradient, tf.float64) * factor
    loss = sum(piece.loss * (1.0 if summed else piece.weight) for piece in pieces) / weight
    return loss, sums


def _agreements(whole: Outcome, accumulated: dict[int, Any], limit: float) -> Iterator[VariableAgreement]:
    sizes = [tf.norm(tf.cast(g, tf.float64)) for g in whole.gradients.values() if g is not None]
    floor = _FLOOR * float(tf.norm(sizes)) if sizes else 0.0
    for key, variable in whole.variables.items():
        gradient = whole.gradients[key]
        expected = tf.zeros(variable.shape, tf.float64) if gradient is None else tf.cast(gradient, tf.float64)
        difference = float(tf.norm(accumulated.get(key, tf.zeros_like(expected)) - expected))
        error = difference / max(float(tf.norm(expected)), floor, 1e-300)
        yield VariableAgreement(name=name_of(variable), error=error, agrees=error <= limit)


def _in_step(step: Any, whole: Outcome, pieces: Sequence[Outcome]) -> Coupling:
    """No layer was at fault: it is the loss that the step computes, or what it counts as the weight."""
    function = inspect.unwrap(getattr(step, "python_function", step))
    name = getattr(function, "__name__", type(step).__name__)
    fits = {
        "its loss is a sum: pass reduction='sum'": _combine(pieces, summed=True)[0],
        "it gives every part the same weight: pass weight=lambda *part: 1": sum(p.loss for p in pieces) / len(pieces),
    }
    for reason, loss in fits.items():
        if abs(loss - whole.loss) <= 1e-5 * max(abs(whole.loss), 1e-12):
            return Coupling(name=name, kind="loss", reason=reason, difference=None)
    return Coupling(
        name=name,
        kind="loss",
        reason="the loss it computes is not a mean over the examples: what one adds depends on the others",
        difference=abs(_combine(pieces, summed=False)[0] - whole.loss) / max(abs(whole.loss), 1e-12),
    )
