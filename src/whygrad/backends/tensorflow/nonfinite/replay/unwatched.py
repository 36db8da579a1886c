"""Ops of ours that neither the recorder nor a tape of the user's may see."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.recorder import Recorder


@contextlib.contextmanager
def unwatched(recorder: Recorder) -> Iterator[None]:
    """Nothing that runs inside is recorded."""
    with recorder.pausing(), compat.unrecorded():
        yield
