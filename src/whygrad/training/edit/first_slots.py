"""What an optimizer's slots hold before its first update."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from whygrad.backends.tensorflow import compat


def first_values(optimizer: Any, variable: Any) -> list[Any]:
    """A number, or an array where it is not the same everywhere, for each slot of a variable."""
    if hasattr(compat.innermost(optimizer), "get_slot_names"):  # tf_keras legacy: cannot be asked, and is zero
        return [0.0] * len(compat.slots_of(optimizer, variable))
    with tf.init_scope():
        twin = compat.twin_of(optimizer, [variable])
        values = [compat.native(slot).numpy() for slot in compat.slots_of(twin, variable)]
    return [value.flat[0] if value.size and np.all(value == value.flat[0]) else value for value in values]
