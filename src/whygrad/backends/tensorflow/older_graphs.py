"""Writes in functions that were compiled before anybody watched, told from the ops of their graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from whygrad.backends.tensorflow.op_table import WRITE_PREFIXES
from whygrad.backends.tensorflow.variables import VariableEntry
from whygrad.backends.tensorflow.write_origin import Origin, kind_of_file
from whygrad.capture.position import CodeOwner, file_owner
from whygrad.graph.ledger import WriterKind
from whygrad.source import SourceSpan

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.recorder import Recorder


class OlderWrite(NamedTuple):
    entry: VariableEntry
    origin: Origin
    type: str
    place: SourceSpan | None


def older_writes(recorder: Recorder, graph: Any) -> Iterator[OlderWrite]:
    """What a graph writes; nothing for one that was traced while watching, which is known better."""
    if graph in recorder.traces:
        return
    for variable in getattr(graph, "variables", ()):
        recorder.variables.of(variable)
    for op in graph.get_operations():
        if not op.type.startswith(WRITE_PREFIXES) or not op.inputs:
            continue
        entry = recorder.variables.entries.get(recorder._outermost(op.inputs[0]._id, graph))
        if entry is not None:
            frames = [(frame.filename, frame.lineno) for frame in op.traceback]
            yield OlderWrite(entry, _origin(frames, op.name), op.type, _place(frames))


def _origin(frames: list[tuple[str, int]], name: str) -> Origin:
    """The innermost part of Keras that asked for it, down to the user's own line."""
    for file, _ in reversed(frames):
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
