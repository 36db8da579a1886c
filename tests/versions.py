"""What tests may expect of the installed versions: `make matrix` runs them with older ones too."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

_CONSTRAINTS = (Path(__file__).parent.parent / "constraints.txt").read_text(encoding="utf-8")


def is_early_keras_3() -> bool:
    """Up to 3.8, the newest of them that was tried."""
    return _release("keras") < (3, 9)


def is_oldest_keras_3() -> bool:
    """Up to 3.3, the oldest that whygrad works with; 3.8 is the next that was tried.

    It loses what `steps_per_execution` leaves of an epoch, does not sum the gradients of replicas, and opens no values.
    """
    return _release("keras") < (3, 4)


def is_oldest_tensorflow() -> bool:
    """Up to 2.16; 2.18 is the next that was tried."""
    return _release("tensorflow_cpu") < (2, 17)


def _release(name: str) -> tuple[int, ...]:
    return tuple(map(int, version(name).split(".")[:2]))


LOST: Final = "this Keras does not do it: see docs/versions.md"
without_oldest_keras = pytest.mark.skipif(is_oldest_keras_3(), reason=LOST)


def can_be_seeded(tf_keras: ModuleType) -> bool:
    """The tf_keras of 2.16 to 2.18 asks for an integer up to `1e9`; Python 3.12 wants an integer there, too."""
    if sys.version_info < (3, 12):
        return True
    tf_keras.utils.set_random_seed(1)
    try:
        tf_keras.layers.Dense(1).build((None, 1))
    except TypeError:
        return False
    return True


def are_those_of_the_pages() -> bool:
    """Whether TensorFlow and Keras are those that the shown output was made with: their own messages change."""
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)$", _CONSTRAINTS, re.MULTILINE))
    return all(version(name) == pinned[name] for name in ("tensorflow_cpu", "keras"))
