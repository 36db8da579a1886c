"""What an op of a compiled function gave in an earlier call, had once more: random numbers, and other last digits.

The op counts on from call to call, where nobody can see it. But with a seed, TensorFlow skips as many numbers for each
call as the op has results, times 256, and its stateless ops take that count as an argument.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import tensorflow as tf

from whygrad.backends.tensorflow.compat.core import eager_context, run_op

_STATELESS: Final = {
    "RandomStandardNormal": "StatelessRandomNormalV2",
    "RandomUniform": "StatelessRandomUniformV2",
    "RandomUniformInt": "StatelessRandomUniformIntV2",
    "TruncatedNormal": "StatelessTruncatedNormalV2",
}
_PHILOX: Final = 1  # the number of the algorithm
_SKIPPED: Final = 256  # counts for each result
_OWN_SEED: Final = 0x77_68_79_67_72_61_64
_ROUNDED: Final = (tf.float16, tf.float32, tf.float64)
_COMPILED: Final = ("_XlaMustCompile", "_XlaCompile")


def seeding() -> Any:
    """Another object after each time that the seed of TensorFlow is set: every op begins to count again."""
    return getattr(eager_context(), "_rng", None)


def can_be_drawn_again(operation: Any) -> bool:
    """Whether what a traced op drew in a call follows from its seeds and from how often it ran before."""
    if operation.type not in _STATELESS:
        return False
    return bool(operation.get_attr("seed") or operation.get_attr("seed2"))  # without any, they come from the system


def draws_as_many(operation: Any) -> bool:
    """Whether a traced op draws equally many numbers in every call."""
    return bool(operation.outputs[0].shape.is_fully_defined())


def drawn_again(operation: Any, inputs: list[Any], times: int) -> list[Any]:
    """What a traced op drew, after so many calls in which it drew as many."""
    shape, *bounds = inputs
    count = int(np.prod(shape.numpy(), dtype=np.int64))
    key = _words(operation.get_attr("seed"))
    counter = _words(times * count * _SKIPPED, operation.get_attr("seed2"))
    kind = operation.outputs[0].dtype
    attrs = ("dtype", kind.as_datatype_enum, "Tshape", shape.dtype.as_datatype_enum)
    given = [shape, key, counter, tf.constant(_PHILOX), *bounds]
    return run_op(_STATELESS[operation.type], 1, given, attrs)


def with_own_seed(attrs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The attributes of an op that draws, so that no op of the user's shares its numbers."""
    found = list(attrs)
    for i in range(0, len(found), 2):
        if found[i] == "seed":
            found[i + 1] = _OWN_SEED
    return tuple(found)


def rounded_otherwise(tensor: Any, rng: np.random.Generator) -> Any:
    """A result as it may be where it is rounded otherwise: the last digit of some numbers one more or less.

    Zero, and what is not finite, stays.
    """
    if tensor.dtype not in _ROUNDED:
        return tensor
    array = tensor.numpy()
    towards = rng.choice(np.array([-np.inf, np.inf], array.dtype), array.shape)
    keep = (array == 0) | ~np.isfinite(array) | (rng.random(array.shape) < 0.5)
    return tf.constant(np.where(keep, array, np.nextafter(array, towards)), dtype=tensor.dtype)


def is_compiled_as_a_whole(called: Any) -> bool:
    """Whether XLA compiles a function, or what a traced op calls: its random numbers are its own."""
    given = getattr(called, "definition", None) or called.node_def
    return any(name in given.attr and given.attr[name].b for name in _COMPILED)


def _words(*numbers: int) -> Any:
    return tf.constant(np.array([number % 2**64 for number in numbers], np.uint64))
