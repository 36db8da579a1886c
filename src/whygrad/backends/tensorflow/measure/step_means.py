"""How the numbers of a training step are taken without changing the step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.gradient_part import Part, Tensor, part_of, real_part, whole_size, widened
from whygrad.backends.tensorflow.measure.statistics import STACKED_SIZE, Reducer, columns_of, grouped

_PRODUCTS: Final = frozenset({"MatMul", "BatchMatMulV2", "BatchMatMulV3"})


@dataclass(frozen=True, slots=True)
class Means:
    """What a step may use to measure itself."""

    dtype: Any
    compiled: bool = False  # by XLA
    one: Any = None  # the value of a variable, 1, which XLA does not know
    by_hand: bool = False  # what is measured may go on into arithmetic of the user's own
    closely: Any = True  # a boolean tensor: at this step the big variables are looked at closely too

    @property
    def reducer(self) -> Reducer:
        return Reducer(lambda x: compat.xla_barriers([x])[0]) if self.compiled else Reducer()

    def part(self, gradient: Any) -> Part:
        """What is to be read of a gradient."""
        values = self.apart(gradient)
        if self.compiled and isinstance(values, tf.IndexedSlices):
            return _merged(values)
        part = part_of(values)
        assert part is not None
        return part

    def apart(self, tensor: Any) -> Any:
        """The tensor, for a reader that must not change how it is computed.

        Outside of XLA, where the user's arithmetic follows, by arithmetic of its own; sums of big tensors, which
        are felt, as they are.

        XLA computes a small result anew inside each elementwise op that uses it, but only once where another kind of op
        uses it too, and rounds differently then. So our own use of it is an elementwise op: a product with one.
        """
        if isinstance(tensor, tf.IndexedSlices):
            return tf.IndexedSlices(self.apart(tensor.values), tensor.indices, tensor.dense_shape)
        if not tf.is_tensor(tensor) or tf.executing_eagerly():
            return tensor
        if not self.compiled:
            return compat.computed_apart(tensor, sums=not is_big(tensor)) if self.by_hand else tensor
        if _is_computed_alone(tensor):
            return tensor
        return tensor * (self.one if tensor.dtype == tf.float32 else tf.cast(self.one, tensor.dtype))

    def norms(self, tensors: Sequence[Any]) -> Tensor:
        """[n]: L2 norms, of variables too; squares only, so infinite or zero beyond what they can hold."""
        if not tensors:
            return tf.zeros([0], self.dtype)
        groups = grouped([self.part(_read(tensor)) for tensor in tensors])
        (half,) = columns_of(groups, lambda x, axis: (self.reducer.half_squares(x, axis),), self.dtype)
        return tf.sqrt(2 * half)

    def unknown(self, *shape: int) -> Tensor:
        return tf.fill(list(shape), tf.cast(float("nan"), self.dtype))


def _read(value: Any) -> Any:
    return tf.convert_to_tensor(value) if isinstance(value, tf.Variable) else value


def _is_computed_alone(tensor: Tensor) -> bool:
    """Whether XLA computes it as one whole, whoever reads it: a big product of matrices.

    A product with a vector is computed as a sum, or becomes part of an addition; a small one may be computed twice.
    """
    return tensor.op.type in _PRODUCTS and is_big(tensor) and not any(length in (None, 1) for length in tensor.shape)


def is_big(tensor: Any) -> bool:
    """Whether reading it once more would be felt."""
    values = getattr(tensor, "values", tensor)
    count = values.shape.num_elements()
    return count is None or count > STACKED_SIZE


def _merged(slices: Any) -> Part:
    """Slices in which the repetitions of a row are added to its first and zero themselves: XLA knows such shapes."""
    count = tf.size(slices.indices)
    height = tf.cast(slices.dense_shape[0], tf.int32)
    first = tf.math.unsorted_segment_min(tf.range(count), slices.indices, height)
    values = slices.values if slices.values.dtype.is_complex else widened(slices.values)
    merged = tf.math.unsorted_segment_sum(values, tf.gather(first, slices.indices), count)
    return real_part(merged, whole_size(slices, merged))
