"""What tests may expect of the installed versions: `make matrix` runs them with older ones too."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

_CONSTRAINTS = (Path(__file__).parent.parent / "constraints.txt").read_text(encoding="utf-8")


def numbers(package: str) -> tuple[int, ...]:
    """The version that is installed."""
    return tuple(map(int, re.findall(r"\d+", version(package))[:3]))


def are_those_of_the_pages() -> bool:
    """Whether TensorFlow and Keras are those that the shown output was made with: their own messages change."""
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)$", _CONSTRAINTS, re.MULTILINE))
    return all(version(name) == pinned[name] for name in ("tensorflow_cpu", "keras"))
