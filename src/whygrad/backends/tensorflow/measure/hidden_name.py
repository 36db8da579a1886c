"""How variables of our own are told from the program's."""

from __future__ import annotations

from typing import Any, Final

HIDDEN: Final = "whygrad/"


def is_hidden(variable: Any) -> bool:
    return str(getattr(variable, "name", "")).startswith(HIDDEN)
