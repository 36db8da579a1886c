"""Writes in functions that were compiled before anybody watched, told from the ops of their graphs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.function_graphs import outermost_handle
from whygrad.backends.tensorflow.log.ledger.write_origin import Origin, kind_of_file
from whygrad.backends.tensorflow.log.op_table import writes
from whygrad.backends.tensorflow.log.variables import VariableBook, VariableEntry
from whygrad.graph.ledger import WriterKind
from whygrad.source import SourceSpan
from whygrad.source.position import CodeOwner, file_owner

_OURS: Final = str(Path(__file__).parents[4]) + os.sep


class OlderWrite(NamedTuple):
    entry: VariableEntry
    origin: Origin
    type: str
    place: SourceSpan | None


def older_writes(variables: VariableBook, graph: Any) -> Iterator[OlderWrite]:
    """What a graph writes."""
    for variable in getattr(graph, "variables", ()):
        variables.of(variable)
    for op in graph.get_operations():
        if not writes(op.type) or not op.inputs:
            continue
        entry = variables.entries.get(outermost_handle(compat.tensor_id(op.inputs[0]), graph))
        if entry is not None:
            frames = [(frame.filename, frame.lineno) for frame in op.traceback]
            yield OlderWrite(entry, _origin(frames, op.name), op.type, _place(frames))


def _origin(frames: list[tuple[str, int]], name: str) -> Origin:
    """The innermost part of Keras that asked for it, down to the user's own line."""
    for file, _ in reversed(frames):
        if file.startswith(_OURS):  # the counters of a guard, in the branches that it makes
            return Origin(WriterKind.OTHER, "")
        if file_owner(file) is not CodeOwner.MACHINERY:
            return Origin(WriterKind.USER, "")
        kind = kind_of_file(file)
        if kind is not None:
            return Origin(kind, name.split("/")[0])
    return Origin(WriterKind.OTHER, "")


def _place(frames: list[tuple[str, int]]) -> SourceSpan | None:
    for file, line in reversed(frames):
        if file_owner(file) is CodeOwner.USER:
            return SourceSpan(file, line)
    return None
