"""`whygrad run --guard`: every optimizer of a script behind a guard that the script knows nothing of."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from whygrad.arguments import check_choice

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.listen.hooks import Hooks
    from whygrad.training.guard.guarding import Guarding


class Guards:
    """The guard of each optimizer that was seen."""

    def __init__(self, mode: str | None) -> None:
        check_choice("guard", mode, (None, "skip", "raise", "zero", "rollback"))  # `MODES`, without the framework
        self.mode = mode
        self._of: weakref.WeakKeyDictionary[Any, Guarding] = weakref.WeakKeyDictionary()
        self._inside: weakref.WeakSet[Any] = weakref.WeakSet()  # optimizers that a guarded one hands its gradients to
        self._threads = threading.local()  # `busy` where one is making its update: replicas have threads of their own

    def step(self, optimizer: Any, gradients: list[Any], variables: list[Any], apply: Any) -> None:
        """Guard one update; those that it makes itself, of an optimizer inside, go through."""
        from whygrad.backends.tensorflow import compat
        from whygrad.training.guard.guarding import Guarding, GuardSettings

        busy = getattr(self._threads, "busy", False)
        if busy or optimizer in self._inside or hasattr(optimizer, "guarding"):
            apply(gradients)
            return
        guarding = self._of.get(optimizer)
        if guarding is None:
            compat.build(optimizer, variables)
            guarding = self._of[optimizer] = Guarding(GuardSettings(on_nonfinite=self.mode or "skip", patience=None))
            guarding.build(optimizer, variables)
        self._inside.update(_held_by(optimizer))
        self._threads.busy = True
        try:
            guarding.step(optimizer, gradients, variables, apply)
        finally:
            self._threads.busy = False

    def take_reports(self) -> list[str]:
        """What the guards have held back, once."""
        guards, self._of = list(self._of.values()), weakref.WeakKeyDictionary()
        return [each.report() for each in guards if each.record is not None and each.record.bad_steps()]

    def install(self, hooks: Hooks, base: Any) -> None:
        """Stand between a class of optimizers and the gradients it is given."""
        from whygrad.backends.tensorflow import compat
        from whygrad.backends.tensorflow.listen.gradient_calls import stand_around_updates

        def around(optimizer: Any, gradients: list[Any], variables: list[Any], apply: Any) -> Any:
            self.step(optimizer, gradients, variables, apply)
            return optimizer.iterations

        stand_around_updates(hooks, base, compat.updating_method(base), around)


def _held_by(optimizer: Any) -> Iterator[Any]:
    """The optimizers inside an optimizer."""
    inner = getattr(optimizer, "wrapped", None) or getattr(optimizer, "inner_optimizer", None)
    if inner is not None:
        yield inner
        yield from _held_by(inner)
