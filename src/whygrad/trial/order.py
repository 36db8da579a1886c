"""What a process of ours is told to run, and how far."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from whygrad.graph.dataclass_json import from_plain, to_plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One run: of which program, with which texts in place of those on disk, until when."""

    script: str
    args: tuple[str, ...] = ()
    is_module: bool = False
    overlay: Mapping[str, str] = field(default_factory=dict)
    steps: int | None = None  # the run is stopped after so many; None: when a certain finding has been seen, or never
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


def dump_order(order: Order) -> str:
    return json.dumps(to_plain(order))


def load_order(text: str) -> Order:
    return from_plain(Order, json.loads(text))
