"""What training loops do to a list of gradients before they apply it, as small functions from list to list."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

Gradients = list[Any]
Link = Callable[[ModuleType, Gradients], Gradients]


def clip_by_norm(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [tf.clip_by_norm(g, 1.0) for g in gradients]


def clip_by_global_norm(tf: ModuleType, gradients: Gradients) -> Gradients:
    clipped, _ = tf.clip_by_global_norm(gradients, 1.0)
    return list(clipped)


def clip_by_value(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [tf.clip_by_value(g, -0.5, 0.5) for g in gradients]


def clip_by_hand(tf: ModuleType, gradients: Gradients) -> Gradients:
    whole = tf.sqrt(tf.add_n([tf.reduce_sum(g * g) for g in gradients]))
    return [g * tf.minimum(1.0, 1.0 / (whole + 1e-6)) for g in gradients]


def multiply(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [0.5 * g for g in gradients]


def multiply_by_variable(tf: ModuleType, gradients: Gradients) -> Gradients:
    rate = tf.constant([0.1, 0.2])
    return [tf.reduce_sum(rate) * g for g in gradients]


def divide(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [g / 4.0 for g in gradients]


def negate_twice(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [tf.negative(-g) for g in gradients]


def accumulate(tf: ModuleType, gradients: Gradients) -> Gradients:
    total = [tf.zeros_like(g) for g in gradients]
    return [t + g for t, g in zip(total, gradients, strict=True)]


def add_n(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [tf.add_n([g, g, tf.zeros_like(g)]) for g in gradients]


def cast_down_and_up(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [tf.cast(tf.cast(g, tf.float16), tf.float32) for g in gradients]


def mask_nan(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [tf.where(tf.math.is_nan(g), tf.zeros_like(g), g) for g in gradients]


def mask_by_norm(tf: ModuleType, gradients: Gradients) -> Gradients:
    good = tf.math.is_finite(tf.linalg.global_norm(gradients))
    return [tf.where(good, g, tf.zeros_like(g)) for g in gradients]


def multiply_no_nan(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [tf.math.multiply_no_nan(g, tf.ones_like(g)) for g in gradients]


def identity(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [tf.identity(g) for g in gradients]


def reshape(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [tf.reshape(tf.reshape(g, [-1]), tf.shape(g)) for g in gradients]


def transpose_twice(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [tf.transpose(tf.transpose(g)) for g in gradients]


def stack_and_unstack(tf: ModuleType, gradients: Gradients) -> Gradients:
    return list(tf.unstack(tf.stack(gradients) * 2.0))


def stack_and_index(tf: ModuleType, gradients: Gradients) -> Gradients:
    stacked = tf.stack(gradients)
    return [stacked[i] for i in range(len(gradients))]


def concat_and_split(tf: ModuleType, gradients: Gradients) -> Gradients:
    flat = tf.concat([tf.reshape(g, [-1]) for g in gradients], axis=0)
    sizes = [g.shape.num_elements() for g in gradients]
    parts = tf.split(flat / 2.0, sizes)
    return [tf.reshape(part, g.shape) for part, g in zip(parts, gradients, strict=True)]


def concat_and_slice(tf: ModuleType, gradients: Gradients) -> Gradients:
    flat = tf.concat([tf.reshape(g, [-1]) for g in gradients], axis=0)
    found, start = [], 0
    for g in gradients:
        size = g.shape.num_elements()
        found.append(tf.reshape(flat[start : start + size], g.shape))
        start += size
    return found


def centre(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [g - tf.reduce_mean(g) for g in gradients]


def normalise(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [g / (tf.norm(g) + 1e-8) for g in gradients]


def sign(tf: ModuleType, gradients: Gradients) -> Gradients:
    return [tf.sign(g) for g in gradients]


def mapped(tf: ModuleType, gradients: Gradients) -> Gradients:
    found: Gradients = tf.nest.map_structure(lambda g: g * 0.9, gradients)
    return found


def slots(tf: ModuleType, gradients: Gradients) -> Gradients:
    """Eager only: a buffer for each gradient."""
    buffers = [tf.Variable(tf.zeros_like(g), trainable=False) for g in gradients]
    for buffer, g in zip(buffers, gradients, strict=True):
        buffer.assign_add(g)
    return [tf.convert_to_tensor(buffer) for buffer in buffers]


def compiled(tf: ModuleType, gradients: Gradients) -> Gradients:
    """Through a function of its own."""

    @tf.function
    def half(items: Gradients) -> Gradients:
        return [item * 0.5 for item in items]

    return list(half(gradients))


LINKS: dict[str, Link] = {
    link.__name__: link
    for link in (
        *(clip_by_norm, clip_by_global_norm, clip_by_value, clip_by_hand, multiply, multiply_by_variable, divide),
        *(negate_twice, accumulate, add_n, cast_down_and_up, mask_nan, mask_by_norm, multiply_no_nan, identity),
        *(reshape, transpose_twice, stack_and_unstack, stack_and_index, concat_and_split, concat_and_slice),
        *(centre, normalise, sign, mapped, slots, compiled),
    )
}
ANYWHERE = [name for name in LINKS if name != "slots"]
