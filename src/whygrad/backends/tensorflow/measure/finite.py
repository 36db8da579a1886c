"""Looking at values: finite or not, and the numbers that explain why. No op is run, so nothing is disturbed."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.graph.nonfinite import ValueFacts

_SMALL: Final = 4096  # elements
_LARGEST: Final = sys.float_info.max
_ROOT: Final = math.sqrt(_LARGEST)  # the square of a smaller number is finite


def is_finite(tensor: Any) -> bool:
    """Whether every element is; true for what has no floating elements, and for None."""
    return math.isfinite(square_sum(tensor))


def square_sum(tensor: Any) -> float:
    """The sum of squares, which is finite just when every element is; 0 for what has no floating elements."""
    tensor = compat.values_in(tensor)
    dtype = getattr(tensor, "dtype", None)
    if dtype is None or not (dtype.is_floating or dtype.is_complex):
        return 0.0
    array = array_of(tensor)
    return 0.0 if array is None else _square_sum(array)


def _square_sum(array: Any) -> float:
    """One pass; a second one only where the sum itself, not an element, has overflowed."""
    if array.ndim == 0 and array.dtype.kind == "f":  # a loss: NumPy's ceremony would take longer than the look
        number = abs(float(array))
        return number * number if number < _ROOT else number if math.isnan(number) or number == math.inf else _LARGEST
    with np.errstate(all="ignore"):
        flat = array.reshape(-1) if array.dtype.char in "fd" else np.abs(array).astype(np.float32).reshape(-1)
        total = float(np.dot(flat, flat))
        if math.isfinite(total) or not np.isfinite(flat).all():
            return total
        wide = flat.astype(np.float64)
        return min(float(np.dot(wide, wide)), _LARGEST)


def is_finite_number(value: Any) -> bool:
    """Whether a number, or a small array of them, is; true for what is neither, and for what takes long to look at."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size <= _SMALL:
        return bool(np.isfinite(value).all())
    return True


def symptom_of(tensors: Iterable[Any]) -> str:
    """What a bad result is called."""
    for tensor in tensors:
        array = elements_of(tensor)
        if array is not None and np.isnan(array).any():
            return "NaN"
    return "Inf"


def array_of(tensor: Any) -> Any:
    """The elements, without a copy where TensorFlow allows; None where the tensor has no values to look at."""
    view = compat.array_view
    if not view or not (compat.id_of(tensor) is not None) or not hasattr(tensor, "numpy"):
        return None
    try:
        return np.asarray(view(tensor))
    except Exception:  # a variant, a resource, or a tensor of another device that is gone
        return None


def elements_of(tensor: Any) -> Any:
    """The same of a dense tensor, or of the rows that sparse slices hold."""
    return array_of(compat.values_in(tensor))


def is_number(tensor: Any) -> bool:
    """Whether a tensor has numbers for elements: no text, no handle, no list."""
    dtype = getattr(tensor, "dtype", None)
    return dtype is not None and bool(dtype.is_floating or dtype.is_integer or dtype.is_complex)


def bytes_of(tensor: Any) -> int:
    """The memory that its elements take; 0 for a handle, and where it is not known."""
    shape, dtype = getattr(tensor, "shape", None), getattr(tensor, "dtype", None)
    if shape is None or dtype is None or dtype is compat.resource_dtype or shape.rank is None:
        return 0
    return int(shape.num_elements() or 0) * int(getattr(dtype, "size", 0) or 0)


def facts_of_values(tensor: Any) -> ValueFacts:
    """Extremes and counts."""
    tensor = compat.values_in(tensor)
    array = array_of(tensor)
    name = tensor.dtype.name
    if array is None or (array.dtype.kind in "OSUV" and not _is_small_float(name)):
        return ValueFacts(dtype=name, shape=tuple(tensor.shape))
    shape = tuple(int(n) for n in array.shape)
    if array.dtype.kind == "b":
        return ValueFacts(dtype=name, shape=shape, zeros=int((~array).sum()))
    with np.errstate(all="ignore"):
        wide = np.abs(array) if array.dtype.kind == "c" else array.astype(np.float64, copy=False)
        mask = np.isfinite(wide)
        finite = wide[mask]
        return ValueFacts(
            dtype=name,
            shape=shape,
            low=float(finite.min()) if finite.size else None,
            high=float(finite.max()) if finite.size else None,
            zeros=int((wide == 0).sum()),
            negatives=int((finite < 0).sum()),
            nans=int(np.isnan(wide).sum()),
            infs=int(np.isinf(wide).sum()),
        )


def _is_small_float(name: str) -> bool:
    return name.startswith(("bfloat", "float8"))


def tensor_of(value: Any) -> Any:
    """The tensor of a gradient, or of a variable that is handed over in its place."""
    inner = compat.held_by(value)
    value = value if inner is None else inner
    if hasattr(value, "assign") and hasattr(value, "read_value"):
        return value.read_value()
    return value
