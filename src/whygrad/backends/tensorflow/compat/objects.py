"""Private attributes of TensorFlow's and Keras's objects, by plain names."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FrameType
from typing import Any

tensor_id: Callable[[Any], int] = operator.attrgetter("_id")
"""The number that tells a tensor, eager or traced, from every other."""


def id_of(thing: Any) -> int | None:
    """The number of a tensor; None for anything else."""
    number: int | None = getattr(thing, "_id", None)
    return number


def shape_of(tensor: Any) -> tuple[int | None, ...] | None:
    """None: the rank is not known."""
    try:
        shape: tuple[int | None, ...] | None = tensor._shape_tuple()
    except Exception:  # an unknown rank raises in some versions
        return None
    return shape


def has_values(thing: Any) -> bool:
    """Whether it is a tensor whose elements can be looked at."""
    return hasattr(thing, "_numpy")


def held_by(variable: Any) -> Any:
    """What a Keras 3 variable holds, which may be nothing yet; None for any other variable."""
    return getattr(variable, "_value", None)


def trainables_of(thing: Any) -> list[Any]:
    """The variables that a layer was made to train, or that an optimizer was built for, whatever the flags say now."""
    return [*(getattr(thing, "_trainable_variables", None) or ()), *(getattr(thing, "_trainable_weights", None) or ())]


def is_persistent(tape: Any) -> bool:
    return bool(getattr(tape, "_persistent", False))


def watches_variables(tape: Any) -> bool:
    return bool(getattr(tape, "_watch_accessed_variables", True))


def body_of(python_op: Any) -> Any:
    """The Python function that an op runs."""
    return getattr(python_op, "_func", None)


def function_in(graph: Any, name: str) -> Any:
    """A function that a graph knows by name."""
    return graph._get_function(name)


class CallbackWithoutLogs:
    """What tf_keras asks a callback before it fetches the logs of a batch for it: none of its hooks looks at them."""

    _supports_tf_logs = True
    hears_training_batches = False

    def _implements_train_batch_hooks(self) -> bool:
        return self.hears_training_batches

    def _implements_test_batch_hooks(self) -> bool:
        return False

    _implements_predict_batch_hooks = _implements_test_batch_hooks


def stands_for_written(variable: Any) -> bool:
    """Whether this is what `assign` returns: another object around the handle of a variable that is there already."""
    return type(variable).__name__ == "_UnreadVariable"


def initial_value(frame: FrameType) -> Any:
    """What a variable is being made with, as the user gave it; None where the frames that make it do not show it."""
    around = frame.f_back
    return None if around is None else around.f_locals.get("initial_value")
