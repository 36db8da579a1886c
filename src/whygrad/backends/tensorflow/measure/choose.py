"""`if` on a tensor, for branches that are run for what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def choose(condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> None:
    """Run one branch: at once where the condition is known, as part of the graph where it is not."""
    if tf.executing_eagerly():
        yes() if bool(condition) else no()
        return

    def run(branch: Callable[[], Any]) -> Callable[[], None]:
        def silent() -> None:
            branch()

        return silent

    tf.cond(condition, run(yes), run(no))
