"""At which step each unit of a rectified layer last had a gradient: a unit that never has one again is dead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from whygrad.backends.tensorflow.measure.gradient_part import Tensor
from whygrad.backends.tensorflow.measure.hidden_variable import hidden_variable
from whygrad.graph.series import RECTIFIED, VariableInfo

_MOST_UNITS: Final = 1 << 16


def is_watched(info: VariableInfo, gradient: Any) -> bool:
    """The bias of a rectified layer: its gradient is zero for exactly the units that pass nothing back."""
    dense = gradient is not None and tf.is_tensor(gradient) and not isinstance(gradient, tf.IndexedSlices)
    return dense and len(info.shape) == 1 and info.shape[0] <= _MOST_UNITS and info.activation in RECTIFIED


class UnitWatch:
    """One number for each unit of several layers, kept by the step itself."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = dict(sizes)
        self.last = hidden_variable(np.full(sum(sizes.values()), -1), dtype=tf.int32, name="units")

    def write(self, number: Tensor, gradients: Sequence[Tensor], wanted: Tensor | bool = True) -> None:
        numbers = [tf.cast(gradient, tf.float32) for gradient in gradients]
        flat = numbers[0] if len(numbers) == 1 else tf.concat(numbers, 0)
        self.last.assign(tf.where((flat != 0) & wanted, tf.cast(number, tf.int32), self.last))

    def clear(self) -> None:
        """Begin again with the first step."""
        self.last.assign(tf.fill(tf.shape(self.last), -1))

    def silent_since(self, step: int) -> dict[str, tuple[int, int]]:
        """{variable: (units without a gradient since a step, units)}."""
        last, result, start = self.last.numpy(), {}, 0
        for name, size in self._sizes.items():
            result[name] = (int(np.sum(last[start : start + size] < step)), size)
            start += size
        return result
