"""What `fit` is given: inputs, targets and validation data, where they are arrays, or data sets made of arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.array_values import values_of
from whygrad.backends.tensorflow.measure.finite import array_of
from whygrad.graph.learning import Missed, Values

_MOST_ROWS: Final = 1 << 16  # of which it is known whether they are in the validation data too
_MOST_LOOKS: Final = 8  # calls of `fit` for one model
_SHARED: Final = 0.2  # of the validation rows
_FEW: Final = 16  # rows; so few may be the same by chance

Array = np.ndarray[Any, np.dtype[Any]]


class GivenData:
    """The data of one model."""

    def __init__(self) -> None:
        self.inputs: tuple[Values, ...] = ()
        self.targets: Values | None = None  # of a model with one output
        self.missed: tuple[Missed, ...] = ()
        self.weighted = self.validated = False
        self._looks = 0
        self._seen: tuple[int, int] = (0, 0)
        self._trained: set[int] = set()  # rows that the weights were trained on, beside a validation
        self._left: int | None = None  # a number for the weights as the last training left them

    def ended(self, weights: int) -> None:
        """A training ended with these weights."""
        self._left = weights

    def look(self, args: tuple[Any, ...], kwargs: dict[str, Any], weights: int) -> None:
        given = {**dict(zip(("x", "y"), args, strict=False)), **kwargs}
        x, y, validation = given.get("x"), given.get("y"), given.get("validation_data")
        if self._looks >= _MOST_LOOKS or self._seen == (id(x), id(y)):
            return
        self._looks, self._seen = self._looks + 1, (id(x), id(y))
        found = list(_of_datasets(x, validation)) if compat.is_dataset(x) else []
        if compat.is_dataset(x):
            x, y = _opened(x)
        inputs, targets = list(_arrays(x)), list(_arrays(y))
        self.inputs = tuple(each for array in inputs if (each := values_of(array)) is not None)
        self.targets = values_of(targets[0], levels=True) if len(targets) == 1 else None
        self.weighted |= given.get("class_weight") is not None or given.get("sample_weight") is not None
        self.validated |= validation is not None or bool(given.get("validation_split"))
        if compat.is_dataset(validation):
            validation = _opened(validation)
        beside = list(_arrays(validation[0])) if isinstance(validation, (list, tuple)) and validation else []
        if len(inputs) == 1 and len(targets) == 1 and holds(inputs[0], targets[0]):
            found.append(Missed.TARGETS_AS_INPUTS if _of_one_table(x, y) else Missed.TARGETS_AMONG_INPUTS)
        if len(inputs) == 1 and validation is None and given.get("validation_split"):
            kept = int(len(inputs[0]) * (1 - given["validation_split"]))  # as Keras cuts it
            inputs, beside = [inputs[0][:kept]], [inputs[0][kept:]]
        if len(inputs) == 1 and len(beside) == 1 and len(inputs[0]) <= _MOST_ROWS:
            found += self._of_rows(set(_rows(inputs[0])), list(_rows(beside[0])), goes_on=weights == self._left)
        self.missed = tuple(found)

    def _of_rows(self, trained: set[int], validated: list[int], *, goes_on: bool) -> Iterator[Missed]:
        before = self._trained if goes_on and len(self._trained) <= _MOST_ROWS else set[int]()
        self._trained = before | trained
        if _are_among(validated, trained):
            yield Missed.VALIDATION_IN_TRAINING
        elif _are_among(validated, before):
            yield Missed.VALIDATION_TRAINED_BEFORE


def _of_datasets(trained: Any, validation: Any) -> Iterator[Missed]:
    if compat.are_shuffled_apart(trained):
        yield Missed.SHUFFLED_APART
    if compat.is_dataset(validation) and compat.is_shuffled_before_cut(trained, validation):
        yield Missed.SPLIT_ANEW


def _opened(dataset: Any) -> tuple[Any, Any]:
    """Inputs and targets of a data set; None for what would have to be gone through for them."""
    try:
        x, y, _ = compat.unpack(compat.arrays_in(dataset))
    except Exception:  # elements that are no plain tensors
        return None, None
    return x, y


def _arrays(data: Any) -> Iterator[Array]:
    """The arrays in what `x` or `y` is; nothing that would have to be gone through for them."""
    pandas = sys.modules.get("pandas")
    if isinstance(data, np.ndarray):
        yield data
    elif compat.id_of(data) is not None:
        array = array_of(data)
        if array is not None:
            yield array
    elif pandas is not None and isinstance(data, (pandas.DataFrame, pandas.Series)):
        yield data.to_numpy()
    elif isinstance(data, dict):
        for each in data.values():
            yield from _arrays(each)
    elif isinstance(data, (list, tuple)) and data:
        if isinstance(data[0], (int, float, bool)):
            yield np.asarray(data)
        elif all(hasattr(each, "shape") for each in data):
            for each in data:
                yield from _arrays(each)


def _of_one_table(x: Any, y: Any) -> bool:
    """Whether both are parts of a table that is neither; targets made of the inputs are a toy's."""
    root = getattr(x, "base", None)
    return (root is not None and getattr(y, "base", None) is root) or any(
        "pandas" in type(e).__module__ for e in (x, y)
    )


def holds(inputs: Array, targets: Array) -> bool:
    """Whether a column of the inputs is the targets."""
    flat = targets.reshape(-1)
    if inputs.ndim != 2 or len(flat) != len(inputs) or inputs.shape[1] < 2 or len(flat) < _FEW:
        return False
    if inputs.dtype.kind not in "fiub" or flat.dtype.kind not in "fiub" or not (flat != flat[0]).any():
        return False
    head = flat[:_FEW]
    same = [column for column in range(inputs.shape[1]) if np.array_equal(inputs[:_FEW, column], head)]
    return any(np.array_equal(inputs[:, column], flat) for column in same)


def _rows(array: Array) -> Iterator[int]:
    """A number for each row; nothing where many are alike, or may be by chance."""
    kind, width = array.dtype.kind, array[0].size if len(array) else 0
    if kind in "fiu" and width >= (2 if kind == "f" else 8):
        rows = [hash((array.dtype.str, row.tobytes())) for row in array[:_MOST_ROWS]]
        yield from rows if len(set(rows)) > len(rows) // 2 else ()


def _are_among(validated: list[int], trained: set[int]) -> bool:
    """Whether rows of the validation data are among those that were trained on, and too many for it to be chance."""
    shared = sum(row in trained for row in validated)
    return len(validated) >= _FEW and shared >= _SHARED * len(validated)
