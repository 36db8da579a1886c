"""Graphs, recordings and ledgers as JSON files, with the version of their schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from whygrad.bounded import parse_json
from whygrad.errors import UsageError
from whygrad.graph.dataclass_json import codec_of
from whygrad.graph.ledger import Ledger
from whygrad.graph.node import Graph
from whygrad.graph.recording import Recording

SCHEMA_VERSION: Final = 2  # grows when old files can no longer be read as they are

_Root = TypeVar("_Root", Recording, Graph, Ledger)
_ROOTS: Final[Mapping[str, Any]] = {"recording": Recording, "graph": Graph, "ledger": Ledger}


def dump(value: Recording | Graph | Ledger) -> str:
    """JSON that `load` reads back as an equal value."""
    kind = next(name for name, root in _ROOTS.items() if isinstance(value, root))
    data = codec_of(_ROOTS[kind]).encode(value)
    return json.dumps({"schema_version": SCHEMA_VERSION, "kind": kind, "data": data}, allow_nan=False)


def load(text: str, root: type[_Root]) -> _Root:
    """The value of this type that `dump` wrote; a `UsageError` says why a text is none."""
    kind = next(name for name, each in _ROOTS.items() if each is root)
    try:
        outer = parse_json(text)
    except ValueError as error:
        raise UsageError(f"this is not a {kind}: not JSON ({error})") from error
    if not isinstance(outer, dict) or not isinstance(outer.get("schema_version"), int):
        raise UsageError(f"this is not a {kind}: it has no schema version")
    version = outer["schema_version"]
    if version > SCHEMA_VERSION:
        raise UsageError(
            f"this {kind} has schema version {version}, and this whygrad reads up to {SCHEMA_VERSION}",
            help="read it with a newer whygrad",
        )
    if outer.get("kind") != kind:
        raise UsageError(f"this is not a {kind} but a {outer.get('kind')!r}")
    try:
        value: _Root = codec_of(_ROOTS[kind]).decode(outer.get("data"))
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise UsageError(f"this {kind} is damaged: {error}") from error
    return value
