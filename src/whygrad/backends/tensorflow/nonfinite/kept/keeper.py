"""Writes down a step that went bad, while its values are still there."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from whygrad.backends import kept_steps as folder
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.variables import VariableBook, VariableEntry
from whygrad.backends.tensorflow.nonfinite.kept.program import CannotKeepError, Program, Writer, span_to_list
from whygrad.backends.tensorflow.nonfinite.replay.trace import Trace, Value
from whygrad.graph.nonfinite import Occurrence
from whygrad.observe.place import span
from whygrad.source import is_on_disk, source_lines

MAX_STEPS = 3  # a run


class Keeper:
    """One for each capture; off unless it is told where to keep."""

    def __init__(self, variables: VariableBook, where: str | None) -> None:
        self._entries = variables.entries
        self.run = None if where is None else folder.steps_folder(where) / _run_name()
        self.kept: list[Path] = []

    def keep(self, trace: Trace, ends: Iterable[Value], when: Occurrence) -> None:
        """Never raises for what cannot be kept: that is a line on the terminal."""
        if self.run is None or len(self.kept) >= MAX_STEPS:
            return
        try:
            program = Writer().write(trace, ends)
            step = folder.KeptStep(self._facts(program, when), _serialized(program), _sources(program))
            self.kept.append(folder.save(step, self.run, when.step))
        except Exception as error:
            reason = str(error) if isinstance(error, (CannotKeepError, OSError)) else f"{type(error).__name__}: {error}"
            print(f"whygrad: the failing step was not kept: {reason}", file=sys.stderr)
            self.run = None

    def _facts(self, program: Program, when: Occurrence) -> dict[str, Any]:
        return {
            "nodes": program.nodes,
            "handles": program.handles,
            "numbers": program.numbers,
            "ends": program.ends,
            "outside": program.outside,
            "variables": self._variables({*program.handles.values(), *when.variables}),
            "when": {
                "request": span_to_list(when.request),
                "step": when.step,
                "loss_is_bad": when.loss_is_bad,
                "symptom": when.symptom,
                "variables": list(when.variables),
                "compiled": when.compiled,
            },
            "dtypes": {place: tensor.dtype.name for place, tensor in program.leaves.items()},
            "made": {"at": time.time(), "tensorflow": compat.version},
        }

    def _variables(self, wanted: Iterable[int]) -> dict[int, dict[str, Any]]:
        entries = self._entries
        return {
            number: {
                "name": _name(entries[number]),
                "dtype": entries[number].dtype,
                "shape": entries[number].shape,
                "trainable": entries[number].trainable,
                "created": span_to_list(span(entries[number].created)),
                "last_write": span_to_list(span(entries[number].last_write)),
            }
            for number in sorted(wanted)
            if number in entries
        }

    def take_lines(self) -> list[str]:
        """How to come back to what was kept, once."""
        kept, self.kept = self.kept, []
        where = "" if self.run is None else self.run.name
        steps = [path.name.removeprefix("step-") for path in kept]
        return [f"whygrad: step {step} is kept: `whygrad replay {where} --step {step}`" for step in steps]


def _serialized(program: Program) -> dict[int, bytes]:
    found, total = {}, 0
    for place, tensor in program.leaves.items():
        found[place] = compat.bytes_of_tensor(tensor)
        total += len(found[place])
        if total > folder.MAX_STEP_BYTES:
            raise CannotKeepError(f"its values take more than {folder.MAX_STEP_BYTES // 2**20} MB")
    return found


def _sources(program: Program) -> dict[str, str]:
    """The user's files that the step came through."""
    files = {node["place"][0] for node in program.nodes if node["place"] is not None}
    texts = {file: "\n".join(source_lines(file)) for file in files}
    return {
        os.path.abspath(f) if is_on_disk(f) else f: text
        for f, text in texts.items()
        if 0 < len(text) <= folder.MAX_SOURCE
    }


def _run_name() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"


def _name(entry: VariableEntry) -> str:
    keras = entry.keras() if entry.keras is not None else None
    return str(getattr(keras, "path", None) or entry.name)
