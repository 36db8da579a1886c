"""What happens to a part-filled window when an epoch of `fit` ends, without the user passing a callback."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

from whygrad.backends.tensorflow import compat
from whygrad.errors import AccumulationWarning
from whygrad.training.wrapping.fit_callbacks import JoiningTrainFunction


class Accumulating(Protocol):
    """An optimizer that has a window to close, and the callback that says when."""

    callback: Any

    def end_of_epoch(self) -> None: ...


class EpochEnd:
    """Mixin for a Keras callback: closes the window before validation and before the epoch's other callbacks."""

    optimizer: Accumulating

    def on_test_begin(self, logs: Any = None) -> None:
        self.optimizer.end_of_epoch()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.optimizer.end_of_epoch()


def attend_epochs(optimizer: Accumulating) -> None:
    """Called from inside a train_step: have `optimizer.callback` called in this `fit` and those to come."""
    step = compat.enclosing_train_step()
    if step is None or getattr(step.model, "train_function", None) is None:
        return
    model = step.model
    if not isinstance(model.train_function, JoiningTrainFunction):
        model.train_function = JoiningTrainFunction(model.train_function, model)
    joining = model.train_function
    if optimizer.callback not in joining.callbacks:
        joining.callbacks.append(optimizer.callback)
    fit = compat.enclosing_fit(model)
    if fit is None:
        return  # train_on_batch: there are no epochs
    joining.join(fit)
    if compat.callback_list_of(fit, model) is None:
        warnings.warn(
            "this Keras does not show the callbacks of a running fit: a window left unfinished at the end of an epoch "
            "is carried into the next; pass callbacks=[optimizer.callback] to fit",
            AccumulationWarning,
            stacklevel=2,
        )
