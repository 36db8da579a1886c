"""A scalar that gradients of several dtypes are multiplied by."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class Factor:
    """A float64 scalar, cast and negated once for each dtype and not once for each variable."""

    def __init__(self, value: Any) -> None:
        self._casts: dict[tuple[tf.DType, bool], Any] = {(tf.float64, False): value}

    def of(self, dtype: tf.DType, *, negative: bool = False) -> Any:
        """The factor in `dtype`, or minus it."""
        key = (dtype, negative)
        if key not in self._casts:
            plain = tf.cast(self._casts[tf.float64, False], dtype)
            self._casts[key] = -plain if negative else plain
        return self._casts[key]


def scaled(value: Any, factor: Factor | None, dtype: tf.DType) -> Any:
    """`value * factor` in `dtype`, worked out in float32 at least; a factor of None leaves the value as it is."""
    if factor is None:
        return tf.cast(value, dtype)
    wide = value.dtype if value.dtype.size >= 4 else tf.float32
    return tf.cast(tf.cast(value, wide) * factor.of(wide), dtype)
