"""The run that is looked into, as far as a replay and its description ask for it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.backends.tensorflow.nonfinite.attribution import BackwardOps
from whygrad.observe.place import Place

ShownAt = Callable[[Place, tuple[str, ...]], Place]  # where an op is shown that ran at a place, in these layers


@dataclass(frozen=True, slots=True)
class Watched:
    recorder: Recorder
    variables: VariableBook
    shown_at: ShownAt
    backward_ops: weakref.WeakKeyDictionary[Any, BackwardOps] = field(default_factory=weakref.WeakKeyDictionary)

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """Neither the recorder nor a tape of the user's sees the ops of ours that run inside."""
        before, self.recorder.replaying = self.recorder.replaying, True
        try:
            with self.recorder.pausing(), compat.unrecorded():
                yield
        finally:
            self.recorder.replaying = before
