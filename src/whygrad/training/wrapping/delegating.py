"""What an optimizer around another leaves to that one, alike in both Kerases."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar

from whygrad.arguments import check_text, given
from whygrad.errors import UsageError, WhygradError

_OWN = ("_", "wrapped", "accumulation", "window", "callback", "settings", "guarding")


def passed_on(name: str) -> Any:
    """A property that is read from and written to the wrapped optimizer."""

    def write(self: Any, value: Any) -> None:
        if "wrapped" in vars(self):  # else Keras sets its own, which nobody reads
            setattr(self.wrapped, name, value)

    return property(attrgetter(f"wrapped.{name}"), write)


class Delegating:
    """To be the first base, so that it comes before the optimizer class of a Keras."""

    PREFIX: ClassVar[str]  # of its name, by the behaviour in front of it
    SAVING: ClassVar[Any]  # `keras.saving`
    CALLBACK: ClassVar[Any]  # `keras.callbacks.Callback`

    wrapped: Any

    @property
    def inner_optimizer(self) -> Any:
        """The innermost optimizer, where Keras's callbacks look for slots and EMA."""
        return getattr(self.wrapped, "inner_optimizer", self.wrapped)

    learning_rate = passed_on("learning_rate")
    iterations = passed_on("iterations")  # how many updates there were, not how many micro-batches

    def new_callback(self, behaviour: type) -> Any:
        """A callback of this Keras that behaves so, with this optimizer."""
        callback = type(behaviour.__name__, (behaviour, self.CALLBACK), {"__module__": __name__})()
        callback.optimizer = self
        return callback

    def exclude_from_weight_decay(self, var_list: Any = None, var_names: Any = None) -> None:
        self.wrapped.exclude_from_weight_decay(var_list=var_list, var_names=var_names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith(_OWN):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.wrapped, name)


def check_optimizer(optimizer: Any, name: str | None = None, error: type[WhygradError] = UsageError) -> None:
    """Raise unless it is an optimizer of one of the Kerases, and `name` a name for the one around it."""
    if not hasattr(optimizer, "apply_gradients") or isinstance(optimizer, type):
        made = f"{optimizer.__name__}()" if isinstance(optimizer, type) else "keras.optimizers.Adam()"
        raise error(
            f"expected an optimizer, got {given(optimizer)}",
            help=f"pass an optimizer of Keras 3 or tf_keras, such as {made}",
        )
    if name is not None:
        check_text("name", name, error=error)
