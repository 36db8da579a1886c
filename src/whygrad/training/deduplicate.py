"""`wg.deduplicate`: an optimizer that sees every row of a sparse gradient once."""

from __future__ import annotations

from typing import Any

from whygrad.backends.tensorflow.measure.sparse_rows import dense, without_repeated_rows
from whygrad.training.replicas import current_replica
from whygrad.training.wrapping.by_keras import Behaviour, register_wrappers, wrapper_class
from whygrad.training.wrapping.delegating import check_optimizer


class DeduplicatingOptimizer(Behaviour):
    """Sums the repeated rows of sparse gradients and hands them to the wrapped optimizer."""

    PREFIX = "deduplicating"

    def step(self, gradients: list[Any], variables: list[Any], name: str | None, **options: Any) -> None:
        # Replicas put their rows one after the other, where the same row comes again: summed, they are dense.
        once = without_repeated_rows if current_replica() is None else dense
        self.hand_over([once(gradient) for gradient in gradients], variables, name, **options)


def deduplicate(optimizer: Any, *, name: str | None = None) -> Any:
    """The same optimizer, with the repeated rows of sparse gradients summed before it sees them.

    An `Embedding` gives one row of gradient for every use of a token. Adam and the other optimizers of Keras 3 that
    square the gradient then add the squares of those rows, where the dense gradient has the square of their sum: the
    step is too small. tf_keras sums them by itself. `wg.accumulate` does this too.
    `name` is that of the wrapped optimizer.
    """
    check_optimizer(optimizer, name)
    return wrapper_class(DeduplicatingOptimizer, optimizer)(optimizer, name=name)


# Naming `wg.deduplicate` must be enough to load a model that was saved with it.
register_wrappers(DeduplicatingOptimizer)
