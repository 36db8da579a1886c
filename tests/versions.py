"""What tests may expect of the installed versions: `make matrix` runs them with older ones too."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

_CONSTRAINTS = (Path(__file__).parent.parent / "constraints.txt").read_text(encoding="utf-8")


def is_early_keras_3() -> bool:
    """Up to 3.8, the newest of them that was tried."""
    return tuple(map(int, version("keras").split(".")[:2])) < (3, 9)


def are_those_of_the_pages() -> bool:
    """Whether TensorFlow and Keras are those that the shown output was made with: their own messages change."""
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)$", _CONSTRAINTS, re.MULTILINE))
    return all(version(name) == pinned[name] for name in ("tensorflow_cpu", "keras"))
