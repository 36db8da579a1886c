"""The calls of Keras layers and losses that a piece of code makes, with what they were given, to be made again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from whygrad.backends.tensorflow.listen.hooks import Hooks


@dataclass(slots=True)
class Call:
    """One call of a layer or loss, and the calls it made."""

    target: Any
    call: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Any = None
    inner: list[Call] = field(default_factory=list)
    is_loss: bool = False


@contextmanager
def recorded_calls() -> Iterator[list[Call]]:
    """The calls made inside the block; the hooks are taken out at its end."""
    root: list[Call] = []
    stack: list[list[Call]] = [root]
    hooks = Hooks()
    for name in ("keras", "tf_keras"):
        module: Any = sys.modules.get(name)
        if hasattr(module, "layers"):
            hooks.replace(module.layers.Layer, "__call__", _recording(stack, is_loss=False))
            hooks.replace(module.losses.Loss, "__call__", _recording(stack, is_loss=True))
    try:
        yield root
    finally:
        hooks.remove()


def _recording(stack: list[list[Call]], *, is_loss: bool) -> Callable[[Any], Any]:
    def wrap(original: Any) -> Any:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            call = Call(self, original, args, kwargs, is_loss=is_loss)
            stack[-1].append(call)
            stack.append(call.inner)
            try:
                call.output = original(self, *args, **kwargs)
            finally:
                stack.pop()
            return call.output

        return __call__

    return wrap
