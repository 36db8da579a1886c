"""Ops of ours that neither the recorder nor a tape of the user's may see."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from whygrad.backends.tensorflow import compat

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture


@contextlib.contextmanager
def unwatched(capture: Capture) -> Iterator[None]:
    """Nothing that runs inside is recorded."""
    capture.recorder.paused += 1
    try:
        with compat.unrecorded():
            yield
    finally:
        capture.recorder.paused -= 1
