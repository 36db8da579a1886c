"""`whygrad run --guard`: every optimizer of a script behind a guard that the script knows nothing of."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.listen.hooks import Hooks
    from whygrad.training.guard.guarding import Guarding


class Guards:
    """The guard of each optimizer that was seen."""

    def __init__(self, mode: str | None) -> None:
        self.mode = mode
        self._of: weakref.WeakKeyDictionary[Any, Guarding] = weakref.WeakKeyDictionary()
        self._depth = 0

    def step(self, optimizer: Any, gradients: list[Any], variables: list[Any], apply: Any) -> None:
        """Guard one update; those that it makes itself, of an optimizer inside, go through."""
        from whygrad.backends.tensorflow import compat
        from whygrad.training.guard.guarding import Guarding, GuardSettings

        if self._depth or hasattr(optimizer, "guarding"):
            apply(gradients)
            return
        guarding = self._of.get(optimizer)
        if guarding is None:
            compat.build(optimizer, variables)
            guarding = self._of[optimizer] = Guarding(GuardSettings(on_nonfinite=self.mode or "skip", patience=None))
            guarding.build(optimizer, variables)
        self._depth += 1
        try:
            guarding.step(optimizer, gradients, variables, apply)
        finally:
            self._depth -= 1

    def take_reports(self) -> list[str]:
        """What the guards have held back, once."""
        guards, self._of = list(self._of.values()), weakref.WeakKeyDictionary()
        return [each.report() for each in guards if each.record is not None and each.record.bad_steps()]

    def install(self, hooks: Hooks, base: Any) -> None:
        """Stand before `apply(gradients, variables)` of Keras 3, or `apply_gradients(pairs)` of tf_keras."""

        def wrap_apply(original: Any) -> Any:
            def apply(optimizer: Any, grads: Any, trainable_variables: Any = None, **kwargs: Any) -> Any:
                known = optimizer._trainable_variables if trainable_variables is None else trainable_variables
                variables = list(known)
                self.step(
                    optimizer, list(grads), variables, lambda given: original(optimizer, given, variables, **kwargs)
                )

            return apply

        def wrap_pairs(original: Any) -> Any:
            def apply_gradients(optimizer: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
                pairs = list(grads_and_vars)
                variables = [variable for _, variable in pairs]

                def update(given: Any) -> None:
                    original(optimizer, list(zip(given, variables, strict=True)), *args, **kwargs)

                self.step(optimizer, [gradient for gradient, _ in pairs], variables, update)
                return optimizer.iterations

            return apply_gradients

        method = "apply" if hasattr(base, "apply") else "apply_gradients"
        hooks.replace(base, method, wrap_apply if method == "apply" else wrap_pairs)
