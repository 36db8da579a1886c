"""Sums, norms and extremes of many gradients at once: one read of each, few ops, never joined into one tensor.

A sum and a sum of squares run at memory bandwidth, and a sum of squares that is finite and not tiny proves that no
element is NaN or infinite and that nothing was lost. Only where it is not is each element looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import tensorflow as tf

from whygrad.backends.tensorflow.measure.gradient_part import Part, Tensor, part_of

_COLUMNS: Final = 64  # a multiple of what a processor adds at once, and a divisor of the sizes of most layers
EXTREMES: Final = ("minimum", "maximum", "nonzero")
EXACT: Final = ("sum", "norm", "minimum", "maximum", "nonzero", "nonfinite")

# Up to this many elements, gradients of one shape are stacked: the copy costs less than the ops it saves,
STACKED_SIZE: Final = 8192
_WORTH_STACKING: Final = 4  # where there are so many.
# Counting ones in float32 is exact up to here.
COUNTED_IN_FLOAT: Final = 1 << 24
# Below this mean square, squares of elements that matter may have been rounded to zero.
_TINY: Final = {tf.float32: 5e-33, tf.float64: 5e-291}

Barrier = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Values that are reduced by the same ops: one gradient, or the rows of a matrix."""

    members: tuple[int, ...]  # positions among the gradients that are there
    values: Tensor
    rows: bool  # each row is one gradient

    @property
    def axis(self) -> int | None:
        return 1 if self.rows else None


@dataclass(frozen=True, slots=True)
class Reducer:
    """How values are reduced. XLA fuses what it can into a sum and then adds one by one: a barrier keeps them apart."""

    barrier: Barrier | None = None

    def total(self, x: Tensor, axis: int | None) -> Tensor:
        """The sum; that of many elements by columns first, which are added up side by side."""
        rows = None if axis is not None else _side_by_side(x)
        if rows is None:
            return tf.reduce_sum(x, axis)
        if self.barrier is not None:
            return tf.reduce_sum(self.barrier(tf.reduce_sum(rows, 0)))
        # The op for the gradient of a bias does so in half the time that TensorFlow takes to add up all elements.
        return tf.reduce_sum(tf.raw_ops.BiasAddGrad(out_backprop=rows))

    def half_squares(self, x: Tensor, axis: int | None) -> Tensor:
        """Half the sum of squares, which is what TensorFlow has a fast op for."""
        if self.barrier is None:
            return tf.nn.l2_loss(x) if axis is None else self.total(x * x, axis) / 2
        rows = None if axis is not None else _side_by_side(x)
        squares = x * x if rows is None else tf.reduce_sum(rows * rows, 0)
        return tf.reduce_sum(self.barrier(squares), axis) / 2

    def half_nonzero(self, x: Tensor, axis: int | None) -> Tensor:
        """Half the number of elements that are not zero: of the squares of their signs; wrong where one is NaN."""
        if axis is None and (x.shape.num_elements() or COUNTED_IN_FLOAT + 1) > COUNTED_IN_FLOAT:
            return tf.cast(tf.math.count_nonzero(x), x.dtype) / 2
        if self.barrier is not None:
            return self.total(self.barrier(tf.cast(x != 0, x.dtype)), axis) / 2
        return self.half_squares(tf.sign(x), axis)


def _side_by_side(x: Tensor) -> Tensor | None:
    """Many elements in rows of as many as are added up at once; None where they are few, or fill no rows."""
    count = x.shape.num_elements()
    if count is None or count <= STACKED_SIZE or count % _COLUMNS:
        return None
    return tf.reshape(x, [-1, _COLUMNS])


PLAIN: Final = Reducer()


def grouped(parts: Sequence[Part]) -> list[Group]:
    """The values to reduce; small ones of the same shape and dtype in one matrix."""
    shapes: dict[object, list[int]] = {}
    for position, part in enumerate(parts):
        count = part.values.shape.num_elements()
        small = count is not None and 0 < count <= STACKED_SIZE
        key = (tuple(part.values.shape), part.values.dtype) if small else position
        shapes.setdefault(key, []).append(position)
    found = [members for members in shapes.values() if len(members) >= _WORTH_STACKING]
    found += [[each] for members in shapes.values() if len(members) < _WORTH_STACKING for each in members]
    return [_group(members, parts) for members in sorted(found)]


def _group(members: list[int], parts: Sequence[Part]) -> Group:
    if len(members) == 1:
        return Group((members[0],), parts[members[0]].values, rows=False)
    stacked = tf.stack([parts[position].values for position in members])
    return Group(tuple(members), tf.reshape(stacked, [len(members), -1]), rows=True)


def basic(groups: Sequence[Group], reducer: Reducer, dtype: Any) -> list[Tensor]:
    """[n] each: sum and half the sum of squares of each gradient."""
    return columns_of(groups, lambda x, axis: (reducer.total(x, axis), reducer.half_squares(x, axis)), dtype)


def squares_and_peak(groups: Sequence[Group], reducer: Reducer, dtype: Any) -> list[Tensor]:
    """[n] each: half the sum of squares, and the largest element but for its sign."""
    return columns_of(groups, lambda x, axis: (reducer.half_squares(x, axis), tf.reduce_max(tf.abs(x), axis)), dtype)


def extremes(groups: Sequence[Group], reducer: Reducer, dtype: Any) -> list[Tensor]:
    """[n] each: minimum, maximum and number of elements that are not zero; right where all are finite."""
    minimum, maximum, half = columns_of(
        groups, lambda x, axis: (tf.reduce_min(x, axis), tf.reduce_max(x, axis), reducer.half_nonzero(x, axis)), dtype
    )
    return [minimum, maximum, 2 * half]


def careful(groups: Sequence[Group], dtype: Any) -> Tensor:
    """[6, n]: all of `EXACT`, whatever the elements are."""
    if not groups:
        return tf.zeros([len(EXACT), 0], dtype)
    return tf.stack(columns_of(groups, lambda x, axis: _careful(x, axis, dtype), dtype))


def rescued(groups: Sequence[Group], dtype: Any) -> list[Tensor]:
    """[n] each: norm and number of non-finite elements of each gradient, whatever they are, in few ops.

    It hardly ever runs: what counts is how long it takes to build. float64 holds the square of any float32.
    """

    def wide(x: Tensor, axis: int | None) -> tuple[Tensor, Tensor]:
        finite = tf.cast(tf.math.is_finite(x), tf.float64)
        return PLAIN.half_squares(tf.cast(x, tf.float64), axis), PLAIN.half_squares(finite, axis)

    half, half_finite = columns_of(groups, wide, tf.float64)
    nonfinite = _sizes(groups, tf.float64) - 2 * half_finite
    norm = tf.where(nonfinite > 0, tf.cast(float("nan"), tf.float64), tf.sqrt(2 * half))
    return [_cast(norm, dtype), _cast(nonfinite, dtype)]


def _careful(x: Tensor, axis: int | None, dtype: Any) -> tuple[Tensor, ...]:
    finite, missing = tf.math.is_finite(x), tf.reduce_any(tf.math.is_nan(x), axis)
    nonfinite = tf.math.count_nonzero(~finite, axis)
    zero = tf.zeros([], x.dtype)  # zeros as large as a gradient would be computed ahead, and kept
    clean = tf.where(finite, x, zero)
    peak = tf.reduce_max(tf.abs(clean), axis, keepdims=True)
    unit = tf.where(peak > 0, peak, tf.ones_like(peak))
    scaled = clean / unit
    scale = tf.cast(tf.reshape(unit, tf.shape(nonfinite)), dtype)
    nan, inf = tf.cast(float("nan"), dtype), tf.cast(float("inf"), dtype)
    total = tf.cast(tf.reduce_sum(scaled, axis), dtype) * scale
    norm = tf.sqrt(tf.cast(tf.reduce_sum(scaled * scaled, axis), dtype)) * scale
    broken = nonfinite > 0
    return (
        tf.where(broken, tf.cast(tf.reduce_sum(tf.where(finite, zero, x), axis), dtype), total),
        tf.where(missing, nan, tf.where(broken, inf, norm)),
        tf.where(missing, nan, tf.cast(tf.reduce_min(x, axis), dtype)),
        tf.where(missing, nan, tf.cast(tf.reduce_max(x, axis), dtype)),
        tf.cast(tf.math.count_nonzero(x, axis), dtype),
        tf.cast(nonfinite, dtype),
    )


def is_troubled(groups: Sequence[Group], some: Tensor, half: Tensor) -> Tensor:
    """Whether `basic` cannot be trusted for some gradient: not finite, overflown, or too small to square.

    `some` is zero only where all elements are, as a count of the others; in a sum they may make up for one another.
    """
    tiny = {member: _TINY[group.values.dtype] for group in groups for member in group.members}
    floor = _sizes(groups, half.dtype) * vector([tiny[i] for i in range(len(tiny))], half.dtype)
    return tf.reduce_any(~tf.math.is_finite(half) | ((half < floor) & (some != 0)))


def _sizes(groups: Sequence[Group], dtype: Any) -> Tensor:
    """[n]: how many elements of each gradient are read."""
    found: dict[int, Any] = {}
    for group in groups:
        count = group.values.shape.num_elements()
        each = tf.size(group.values, tf.int64) if count is None else count // len(group.members)
        found |= dict.fromkeys(group.members, each)
    return vector([found[i] for i in range(len(found))], dtype)


def from_sums(total: Tensor, half: Tensor, extreme: Sequence[Tensor]) -> Tensor:
    """[6, n] like `careful`, where all is finite."""
    return tf.stack([total, tf.sqrt(2 * half), *extreme, tf.zeros_like(total)])


def columns_of(
    groups: Sequence[Group], reduce: Callable[[Tensor, int | None], Iterable[Tensor]], dtype: Any
) -> list[Tensor]:
    """[n] each: the k results of `reduce` for each of the n gradients, in the order of the gradients."""
    alone = [group for group in groups if not group.rows]
    stacked = [group for group in groups if group.rows]
    singles = [tuple(reduce(group.values, None)) for group in alone]
    matrices = [tuple(reduce(group.values, 1)) for group in stacked]
    columns = [
        _joined([each[i] for each in singles], [each[i] for each in matrices], dtype)
        for i in range(len((singles or matrices)[0]))
    ]
    order = [member for group in (*alone, *stacked) for member in group.members]
    if order == sorted(order):
        return columns
    places = tf.constant(sorted(range(len(order)), key=order.__getitem__))
    return [tf.gather(column, places) for column in columns]


def _joined(scalars: Sequence[Tensor], vectors: Sequence[Tensor], dtype: Any) -> Tensor:
    """One vector of numbers that come alone and numbers that come in rows."""
    parts = [tf.stack([_cast(scalar, dtype) for scalar in scalars])] if scalars else []
    parts += [_cast(vector, dtype) for vector in vectors]
    return parts[0] if len(parts) == 1 else tf.concat(parts, 0)


def _cast(tensor: Tensor, dtype: Any) -> Tensor:
    return tensor if tensor.dtype == dtype else tf.cast(tensor, dtype)


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """What is known of n gradients, as vectors of length n; NaN where a gradient is missing."""

    size: Tensor
    sum: Tensor
    imaginary: Tensor | None
    norm: Tensor
    minimum: Tensor
    maximum: Tensor
    zeros: Tensor
    nonfinite: Tensor


def measure(gradients: Sequence[Any], dtype: Any = tf.float64) -> Columns:
    """Exact statistics of each gradient, eagerly or as ops of the graph that is being built.

    Elements so small that TensorFlow itself treats them as zero (denormals) count as zero.
    """
    found = [part_of(gradient) for gradient in gradients]
    parts = [part for part in found if part is not None]
    groups = grouped(parts)
    if not groups:
        return _columns(found, parts, careful((), dtype), dtype)
    (total, half), extreme = basic(groups, PLAIN, dtype), extremes(groups, PLAIN, dtype)
    troubled = is_troubled(groups, extreme[-1], half)
    table = tf.cond(troubled, lambda: careful(groups, dtype), lambda: from_sums(total, half, extreme))
    return _columns(found, parts, table, dtype)


def norms(tensors: Sequence[Any], dtype: Any = tf.float64) -> Tensor:
    """The L2 norm of each tensor, and nothing else."""
    parts = [part for tensor in tensors if (part := part_of(tensor)) is not None]
    groups = grouped(parts)
    half, peak = squares_and_peak(groups, PLAIN, dtype)
    return tf.cond(is_troubled(groups, peak, half), lambda: careful(groups, dtype)[1], lambda: tf.sqrt(2 * half))


def settled(parts: Sequence[Part], columns: Sequence[Tensor], dtype: Any) -> list[Tensor]:
    """[n] each: `EXACT` with zeros in place of what is not zero, and with the zeros that slices do not store."""
    sizes = sizes_of(parts, dtype)
    total, norm, minimum, maximum, nonzero, nonfinite = columns
    if not all(part.is_plain for part in parts):
        stored = vector([part.stored for part in parts], dtype)
        nothing = tf.fill(tf.shape(sizes), tf.cast(float("nan"), dtype))
        implied, empty, zero = stored < sizes, sizes == 0, tf.zeros_like(sizes)
        minimum = tf.where(empty, nothing, tf.where(implied, _nan_minimum(minimum, zero), minimum))
        maximum = tf.where(empty, nothing, tf.where(implied, -_nan_minimum(-maximum, zero), maximum))
    return [total, norm, minimum, maximum, sizes - nonzero, nonfinite]


def sizes_of(parts: Sequence[Part], dtype: Any) -> Tensor:
    return vector([part.size for part in parts], dtype)


def vector(numbers: Sequence[Any], dtype: Any) -> Tensor:
    """Numbers that are known while a graph is built, or scalars that are not."""
    if not any(map(tf.is_tensor, numbers)):
        return tf.constant([float(number) for number in numbers], dtype)
    return tf.stack([tf.cast(n, dtype) if tf.is_tensor(n) else tf.constant(float(n), dtype) for n in numbers])


def _columns(found: Sequence[Part | None], parts: Sequence[Part], table: Tensor, dtype: Any) -> Columns:
    sizes = sizes_of(parts, dtype)
    columns = tf.unstack(table, num=len(EXACT))
    total, norm, minimum, maximum, zeros, nonfinite = settled(parts, columns, dtype)
    imaginary = None
    if any(part.real is not None for part in parts):
        total = tf.stack([_sum_of(part.real, total[i], dtype) for i, part in enumerate(parts)])
        imaginary = tf.stack([_sum_of(part.imaginary, tf.zeros([], dtype), dtype) for part in parts])
    places = tf.constant(_places(found), tf.int32)

    def spread(column: Tensor) -> Tensor:
        return tf.gather(tf.concat([column, [float("nan")]], 0), places)

    return Columns(
        size=spread(sizes),
        sum=spread(total),
        imaginary=None if imaginary is None else spread(imaginary),
        norm=spread(norm),
        minimum=spread(minimum),
        maximum=spread(maximum),
        zeros=spread(zeros),
        nonfinite=spread(nonfinite),
    )


def _nan_minimum(x: Tensor, y: Tensor) -> Tensor:
    return tf.where(tf.math.is_nan(x), x, tf.minimum(x, y))


def _sum_of(component: Tensor | None, otherwise: Tensor, dtype: Any) -> Tensor:
    return otherwise if component is None else tf.cast(tf.reduce_sum(component), dtype)


def _places(found: Sequence[Part | None]) -> list[int]:
    """For each gradient its place among those that are there; the missing ones get the place after the last."""
    last = sum(part is not None for part in found)
    places, next_place = [], 0
    for part in found:
        places.append(last if part is None else next_place)
        next_place += part is not None
    return places
