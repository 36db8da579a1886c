"""Which layer or loss lets one example of a batch change what another one gets."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.keras.inspection import path_of
from whygrad.backends.tensorflow.keras.recorded_calls import Call
from whygrad.training.accumulation.agreement import Coupling, tolerance_of


def couplings(calls: Sequence[Call], sizes: Sequence[int], restore: Callable[[], None]) -> list[Coupling]:
    """Repeat each call on the parts of the batch; where the parts differ from the whole, say so, innermost only."""
    found: list[Coupling] = []
    for call in calls:
        inner = couplings(call.inner, sizes, restore)
        found += inner or [c for c in [_coupling(call, sizes, restore)] if c is not None]
    return list({coupling.name: coupling for coupling in found}.values())


def _coupling(call: Call, sizes: Sequence[int], restore: Callable[[], None]) -> Coupling | None:
    name = path_of(call.target)
    try:
        _recover_training(call)
        if not call.is_loss and _is_random(call):
            return Coupling(name=name, kind="random", reason=_RANDOM, difference=None)
        parts = [_again(call, start, end, sum(sizes), restore) for start, end in ranges(sizes)]
    except Exception:  # a layer that cannot be called on its own: nothing is known, so nothing is said
        return None
    finally:
        restore()
    tolerance = tolerance_of(tensor.dtype for tensor in tf.nest.flatten(call.output) if tf.is_tensor(tensor))
    if call.is_loss:
        kind, reason, difference = "loss", _LOSS, _loss_difference(call, parts, sizes)
    else:
        kind, reason = "examples", _EXAMPLES
        difference = max(_differences(call.output, parts, sizes), default=0.0)
    if difference <= tolerance:
        return None
    return Coupling(name=name, kind=kind, reason=reason, difference=difference)


def _recover_training(call: Call) -> None:
    """Keras hands `training` down without passing it: find out which it was, by what gives the same output."""
    target = inspect.signature(call.target.call).parameters
    if call.is_loss or "training" not in target or "training" in call.kwargs:
        return
    calm = call.call(call.target, *call.args, **call.kwargs, training=False)
    pairs = zip(tf.nest.flatten(calm), tf.nest.flatten(call.output), strict=True)
    same = all(bool(tf.reduce_all(tf.equal(a, b))) for a, b in pairs if tf.is_tensor(a))
    call.kwargs = {**call.kwargs, "training": not same}


def ranges(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Where the parts of a batch begin and end."""
    return [(end - size, end) for end, size in zip(accumulate(sizes), sizes, strict=True)]


_RANDOM = "it draws random numbers, and the micro-batches draw others than the big batch"
_EXAMPLES = "what it returns for an example depends on the other examples in the batch"
_LOSS = "it is not a mean over the examples: what one adds depends on the others"


def _again(call: Call, start: int, end: int, total: int, restore: Callable[[], None]) -> Any:
    restore()

    def part(value: Any) -> Any:
        shape = tuple(getattr(value, "shape", ()))
        if shape and shape[0] == total:
            piece = value[start:end]
            mask = compat.mask_of(value)
            if mask is not None:
                compat.put_mask(piece, part(mask))
            return piece
        return value

    args, kwargs = tf.nest.map_structure(part, (call.args, call.kwargs))
    return call.call(call.target, *args, **kwargs)


def _is_random(call: Call) -> bool:
    """Called twice on the same input without winding the random state back, it returns two things."""
    first = call.call(call.target, *call.args, **call.kwargs)
    second = call.call(call.target, *call.args, **call.kwargs)
    pairs = zip(tf.nest.flatten(first), tf.nest.flatten(second), strict=True)
    return any(bool(tf.reduce_any(tf.not_equal(a, b))) for a, b in pairs if tf.is_tensor(a))


def _differences(whole: Any, parts: Sequence[Any], sizes: Sequence[int]) -> Iterator[float]:
    total = sum(sizes)
    for i, output in enumerate(tf.nest.flatten(whole)):
        if not tf.is_tensor(output) or not output.dtype.is_floating or not output.shape.rank:
            continue
        pieces = [tf.nest.flatten(part)[i] for part in parts]
        if output.shape[0] == total and all(p.shape[0] == s for p, s in zip(pieces, sizes, strict=True)):
            difference = tf.norm(tf.cast(tf.concat(pieces, 0) - output, tf.float64))
            yield float(tf.math.divide_no_nan(difference, tf.norm(tf.cast(output, tf.float64))))


def _loss_difference(call: Call, parts: Sequence[Any], sizes: Sequence[int]) -> float:
    values = [float(tf.reduce_sum(part)) for part in parts]
    value = float(tf.reduce_sum(call.output))
    mask = compat.mask_of(call.args[1]) if len(call.args) > 1 else None
    weights = list(sizes) if mask is None else [int(tf.math.count_nonzero(mask[a:b])) for a, b in ranges(sizes)]
    mean = sum(part * weight for part, weight in zip(values, weights, strict=True)) / max(sum(weights), 1)
    return min(abs(mean - value), abs(sum(values) - value)) / max(abs(value), 1e-12)
