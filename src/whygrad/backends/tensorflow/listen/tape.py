"""Hooks around gradient tapes."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.gradient_calls import hear_requests
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.listen.op_listener import OpListener
from whygrad.backends.tensorflow.log.requests import Requests
from whygrad.backends.tensorflow.log.tapes import Tapes


def install(hooks: Hooks, tapes: Tapes, requests: Requests, listener: OpListener, *, again: bool = False) -> None:
    """Hook the class; `tf.GradientTape` is the same object everywhere. `again`: tapes are asked again by us."""
    owner = compat.GradientTape

    def push(original: Any) -> Any:
        def _push_tape(self: Any) -> Any:
            with compat.recording_for_good(self) if again else contextlib.nullcontext():
                result = original(self)
            hooks.safely(listener.listen)
            hooks.safely(tapes.pushed, self)
            return result

        return _push_tape

    def pop(original: Any) -> Any:
        def _pop_tape(self: Any) -> Any:
            result = original(self)
            hooks.safely(tapes.popped, self)
            loss = hooks.safely(compat.unasked_loss, sys._getframe(2))
            if loss is not None:
                hooks.safely(requests.left_unasked, self, loss)
            return result

        return _pop_tape

    def watch(original: Any) -> Any:
        def watch(self: Any, tensor: Any) -> Any:
            hooks.safely(tapes.watched, self, tensor)
            return original(self, tensor)

        return watch

    def reset(original: Any) -> Any:
        def reset(self: Any) -> Any:
            original(self)
            hooks.safely(tapes.emptied, self, sys._getframe(1))

        return reset

    def stop_recording(original: Any) -> Any:
        def stop_recording(self: Any) -> Any:
            hooks.safely(tapes.stopping, self, sys._getframe(1))
            return original(self)

        return stop_recording

    hooks.replace(owner, "reset", reset)
    hooks.replace(owner, "stop_recording", stop_recording)
    hooks.replace(owner, "_push_tape", push)
    hooks.replace(owner, "_pop_tape", pop)
    hooks.replace(owner, "watch", watch)
    hear_requests(hooks, requests, "gradient", "jacobian", "batch_jacobian")
