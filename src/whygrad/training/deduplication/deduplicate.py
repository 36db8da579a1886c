"""`wg.deduplicate`: an optimizer that sees every row of a sparse gradient once."""

from __future__ import annotations

from typing import Any

from whygrad.errors import UsageError
from whygrad.training.wrapping.by_keras import register_wrappers, wrapper_class


def deduplicate(optimizer: Any, *, name: str | None = None) -> Any:
    """The same optimizer, with the repeated rows of sparse gradients summed before it sees them.

    An `Embedding` gives one row of gradient for every use of a token. Adam and the other optimizers of Keras 3 that
    square the gradient then add the squares of those rows, where the dense gradient has the square of their sum: the
    step is too small. tf_keras sums them by itself. `wg.accumulate` does this too.
    """
    if not hasattr(optimizer, "apply_gradients"):
        raise UsageError(
            f"expected an optimizer, got {type(optimizer).__name__}",
            help="pass an optimizer of Keras 3 or tf_keras, such as keras.optimizers.Adam()",
        )
    return wrapper_class(__package__, "DeduplicatingOptimizer", optimizer)(optimizer, name=name)


# Naming `wg.deduplicate` must be enough to load a model that was saved with it.
register_wrappers(__package__)
