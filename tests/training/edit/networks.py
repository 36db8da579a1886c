"""A small network, and the bits of variables."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def dense(module: ModuleType, name: str = "network") -> Any:
    layers = module.layers
    return module.Sequential(
        [
            layers.Input((3,)),
            layers.Dense(4, name="first"),
            layers.BatchNormalization(name="norm"),
            layers.Dense(1, name="last"),
        ],
        name=name,
    )


def arrays(owner: Any) -> list[Any]:
    held = getattr(owner, "variables", owner)
    return [variable.numpy().copy() for variable in held]


def same(first: list[Any], second: list[Any]) -> bool:
    return len(first) == len(second) and all(a.tobytes() == b.tobytes() for a, b in zip(first, second, strict=True))
