"""A function that gives a loss, as a step that asks for its gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def gradient_step(loss: Callable[..., Any], variables: Any) -> Callable[..., Any]:
    """The step; `variables` may be a model, which may be built only when the loss is computed."""

    def step(*args: Any, **kwargs: Any) -> Any:
        with tf.GradientTape() as tape:
            value = loss(*args, **kwargs)
        return tape.gradient(value, list(getattr(variables, "trainable_variables", variables)))

    step.__name__ = getattr(loss, "__name__", type(loss).__name__)
    return step
