"""What an optimizer around another leaves to that one, alike in both Kerases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_OWN = ("_", "wrapped", "accumulation", "window", "callback", "settings", "guarding")


class Delegating:
    """To be the first base, so that it comes before the optimizer class of a Keras."""

    wrapped: Any

    @property
    def inner_optimizer(self) -> Any:
        """The innermost optimizer, where Keras's callbacks look for slots and EMA."""
        return getattr(self.wrapped, "inner_optimizer", self.wrapped)

    @property
    def learning_rate(self) -> Any:
        return self.wrapped.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self.wrapped.learning_rate = value

    def exclude_from_weight_decay(self, var_list: Any = None, var_names: Any = None) -> None:
        self.wrapped.exclude_from_weight_decay(var_list=var_list, var_names=var_names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith(_OWN):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.wrapped, name)


def pairs_of(grads_and_vars: Iterable[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    """Gradients and variables apart."""
    pairs = list(grads_and_vars)
    return [gradient for gradient, _ in pairs], [variable for _, variable in pairs]
