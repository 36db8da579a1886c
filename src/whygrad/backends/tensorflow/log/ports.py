"""What the log asks of rooms above it."""

from __future__ import annotations

from typing import Any, Protocol

from whygrad.observe.place import Place


class Training(Protocol):
    """Tells of a training loop that the framework itself runs, and of the lists that are handed to requests."""

    def training_model(self) -> str | None: ...
    def training_place(self) -> Place: ...
    def list_was_used(self, value: Any) -> None: ...
