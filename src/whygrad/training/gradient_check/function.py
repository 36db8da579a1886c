"""The function under check, with its inputs as arrays: values, gradients, values at complex inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from whygrad.arguments import given
from whygrad.backends.tensorflow import compat
from whygrad.errors import UsageError
from whygrad.training.variables import variable_list

EPSILON: Final = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1.2e-7, "float64": 2.3e-16}
COMPLEX_STEP: Final = 1e-20


class Function:
    """A weighted sum of all that a function returns: one number, whose gradient shows an error in any of them."""

    def __init__(self, function: Callable[..., Any], inputs: Sequence[Any], seed: int) -> None:
        self._function = function
        if not inputs:
            raise UsageError("there is no input to check a gradient for", help="pass what the function is called with")
        self.variables = [compat.native(each) if hasattr(each, "assign") else None for each in inputs]
        self._given = list(inputs)
        self.arrays = [np.array(each.numpy() if hasattr(each, "numpy") else each) for each in map(_tensor, inputs)]
        self.dtypes = [_tensor(each).dtype for each in inputs]
        self._random = np.random.default_rng(seed)
        self._weights: list[Any] | None = None
        self.size = 0.0  # of what is summed

    @property
    def epsilon(self) -> float:
        """The rounding error of the coarsest dtype that takes part."""
        return max(EPSILON.get(dtype.name, 0.0) for dtype in self.dtypes)

    def value(self, arrays: Sequence[Any]) -> float:
        return self._total(self._call(arrays))

    def prepare(self) -> None:
        """Look at the function once, twice: it must give the same."""
        first, outputs = self.value(self.arrays), self._call(self.arrays)
        self.size = self._total(outputs, np.abs)
        second = self._total(outputs)
        if first != second and np.isfinite(first):
            raise UsageError(
                f"the function gives {first:g} and then {second:g} for the same inputs",
                help="take randomness out of it: pass noise as an input, use `training=False`, fix seeds",
            )

    def gradients(self) -> list[Any]:
        """As TensorFlow computes them; None where there is none."""
        tensors = self._tensors(self.arrays)
        watched = [
            tensor if variable is None else variable for tensor, variable in zip(tensors, self.variables, strict=True)
        ]
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            outputs = _floating(self._function(*self._arguments(tensors)))
            weights = self._weigh(outputs)
            total = tf.add_n([tf.reduce_sum(tf.cast(w, y.dtype) * y) for w, y in zip(weights, outputs, strict=True)])
        found = tape.gradient(total, watched)
        return [None if each is None else np.asarray(tf.convert_to_tensor(each), np.float64) for each in found]

    def complex_derivative(self, direction: Sequence[Any]) -> float | None:
        """Exact but for rounding, where the function takes complex numbers; None where it does not."""
        if any(variable is not None for variable in self.variables):
            return None
        moved = [
            tf.constant(array.astype(np.complex128) + 1j * COMPLEX_STEP * along)
            for array, along in zip(self.arrays, direction, strict=True)
        ]
        try:
            outputs = [np.asarray(y) for y in tf.nest.flatten(self._function(*moved))]
        except Exception:  # most functions mix in real numbers
            return None
        if not outputs or any(y.dtype.kind != "c" for y in outputs):
            return None
        return float(sum(np.sum(w * y.imag) for w, y in zip(self._weigh(outputs), outputs, strict=True)) / COMPLEX_STEP)

    def _call(self, arrays: Sequence[Any]) -> list[Any]:
        tensors = self._tensors(arrays)
        pairs = [(v, tensor) for v, tensor in zip(self.variables, tensors, strict=True) if v is not None]
        held = [tf.identity(variable.read_value()) for variable, _ in pairs]
        try:
            for variable, tensor in pairs:
                variable.assign(tensor)
            return _floating(self._function(*self._arguments(tensors)))
        finally:
            for (variable, _), value in zip(pairs, held, strict=True):
                variable.assign(value)

    def _tensors(self, arrays: Sequence[Any]) -> list[Any]:
        return [tf.constant(array, dtype) for array, dtype in zip(arrays, self.dtypes, strict=True)]

    def _arguments(self, tensors: Sequence[Any]) -> list[Any]:
        """A variable is given itself: the function may read it without being passed it."""
        pairs = zip(tensors, self.variables, self._given, strict=True)
        return [tensor if variable is None else given for tensor, variable, given in pairs]

    def _total(self, outputs: Sequence[Any], of: Callable[[Any], Any] = np.asarray) -> float:
        arrays = [np.asarray(output, np.float64) for output in outputs]
        return float(sum(np.sum(of(w * y)) for w, y in zip(self._weigh(arrays), arrays, strict=True)))

    def _weigh(self, outputs: Sequence[Any]) -> list[Any]:
        if self._weights is None:
            one = len(outputs) == 1 and not np.shape(outputs[0])
            self._weights = [np.ones(()) if one else self._random.uniform(0.5, 1.5, np.shape(y)) for y in outputs]
        return self._weights


def _tensor(value: Any) -> Any:
    try:
        tensor = tf.convert_to_tensor(value)
    except (TypeError, ValueError):
        raise UsageError(
            f"an input must be a tensor, an array or a variable, got {given(value)}", help="check_gradient(f, [x, w])"
        ) from None
    if not tensor.dtype.is_floating:
        raise UsageError(
            f"an input of type {tensor.dtype.name} has no gradient",
            help="pass floating-point inputs; close over the others, by a lambda",
        )
    return tensor


def _floating(result: Any) -> list[Any]:
    tensors = [tf.convert_to_tensor(each) for each in tf.nest.flatten(result)]
    found = [tensor for tensor in tensors if tensor.dtype.is_floating]
    if not found:
        raise UsageError("the function returns no floating-point tensor", help="return what the gradient is taken of")
    return found


def gradient_step(loss: Callable[..., Any], variables: Any) -> Callable[..., Any]:
    """A function that gives a loss, as a step that asks for its gradients; `variables` may be a model, built only
    when the loss is computed."""
    if isinstance(variables, type) or not hasattr(variables, "trainable_variables"):
        variables = variable_list(variables)

    def step(*args: Any, **kwargs: Any) -> Any:
        with tf.GradientTape() as tape:
            value = loss(*args, **kwargs)
        return tape.gradient(value, list(getattr(variables, "trainable_variables", variables)))

    step.__name__ = getattr(loss, "__name__", type(loss).__name__)
    return step
