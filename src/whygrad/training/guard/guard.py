"""`wg.guard`: an optimizer that never applies a gradient that is not finite."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from whygrad.arguments import check_choice, check_path
from whygrad.errors import UsageError
from whygrad.store import RunWriter
from whygrad.training.guard.guarding import MODES, GuardSettings
from whygrad.training.guard.optimizer import GuardedOptimizer
from whygrad.training.replicas import refuse_coordinated
from whygrad.training.wrapping.by_keras import register_wrappers, wrapper_class
from whygrad.training.wrapping.delegating import check_optimizer


def guard(
    optimizer: Any,
    on_nonfinite: str = "skip",
    *,
    patience: int | None = 10,
    restore: Iterable[Any] | Any = (),
    keep: int = 2,
    keep_every: int = 100,
    keep_in: str | os.PathLike[str] | None = None,
    name: str | None = None,
) -> Any:
    """The same optimizer, behind a check that the gradients are finite; pass it to `compile`, or use it in your loop.

    `on_nonfinite`: what happens to an update whose gradients hold a NaN or an infinity.

    - `"skip"`: nothing is applied, and what the forward pass has written (BatchNorm's averages, seeds, the mean loss)
      gets its values back: training goes on as if the batch had not been there.
    - `"zero"`: the bad elements are set to zero, and the rest is applied.
    - `"rollback"`: weights and optimizer go back to the last of `keep` good states, taken every `keep_every` updates
      and kept in memory, or in files of the folder `keep_in`.
    - `"raise"`: training stops.

    After `patience` bad steps in a row (None: never) training stops, whatever the mode. It stops with a
    `NonfiniteError` in eager steps and in `fit`, with an `InvalidArgumentError` of the same text inside a `tf.function`
    of your own. With `jit_compile=True` a compiled step cannot stop by itself: updates are held back from then on,
    `fit` stops after the batch, and in a loop of your own `optimizer.check()` raises.

    `optimizer.bad_steps` has each bad step with its variables; `print(optimizer.report())` lists them.

    `restore`: what to give back its values in eager steps too, a model or variables; compiled steps find out by
    themselves. Overflows that a `LossScaleOptimizer` absorbs are its own business, and not counted while its scale is
    above one. `name` is that of the wrapped optimizer.
    """
    check_path("keep_in", keep_in)
    settings = GuardSettings(
        on_nonfinite=on_nonfinite,
        patience=patience,
        keep=keep,
        keep_every=keep_every,
        keep_in=None if keep_in is None else os.fspath(keep_in),
    )
    check_optimizer(optimizer, name)
    refuse_coordinated("a guard", UsageError)
    wrapper = wrapper_class(GuardedOptimizer, optimizer)(optimizer, name=name, **asdict(settings))
    wrapper.guarding.eager_state.watch(restore)
    return wrapper


class ModelGuard:
    """Put on when training begins, taken off when it ends; what it held back is an event of the run."""

    def __init__(self, mode: str, patience: int | None) -> None:
        check_choice("guard", mode, MODES)
        self._mode = mode
        self._patience = patience
        self._model: Any = None
        self._optimizer: Any = None  # the model's own
        self._guarded: Any = None  # the same behind a guard, kept for the next `fit`: its step is compiled once

    def put_on(self, model: Any) -> None:
        if self._model is not None or hasattr(model.optimizer, "guarding"):
            return
        if self._guarded is None or self._optimizer is not model.optimizer:
            self._guarded = guard(model.optimizer, self._mode, patience=self._patience)
        self._model, self._optimizer = model, model.optimizer
        model.optimizer = self._guarded

    def take_off(self, writer: RunWriter) -> None:
        if self._model is None:
            return
        self._model.optimizer, self._model = self._optimizer, None
        for bad in self._guarded.bad_steps:
            writer.add_event("held back", {"step": bad.step, "variables": list(bad.variables)}, bad.step - 1)
        if self._guarded.bad_steps:
            print(self._guarded.report(), file=sys.stderr)
            self._guarded = None  # the next `fit` begins with a clean record


# Naming `wg.guard` must be enough to load a model that was saved with it.
register_wrappers(GuardedOptimizer)
