"""The ledger as it is filled: a bounded table of writers, and the clock of steps.

A write inside a compiled function is noted when the function is traced; after that only the runs of the function are
counted, one look-up each.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Container, Iterable
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow.log.function_graphs import graphs_inside
from whygrad.backends.tensorflow.log.ledger.older_graphs import older_writes
from whygrad.backends.tensorflow.log.ledger.write_origin import Origin, method_of, origin_of
from whygrad.backends.tensorflow.log.variables import VariableBook, VariableEntry
from whygrad.graph import VariableId
from whygrad.graph.ledger import Stretch, Write, WriterKind
from whygrad.graph.node import OWN
from whygrad.observe.place import span

KEPT_WRITERS = 20_000
KEPT_STRETCHES = 32
_COMPILED = "a compiled function"


class StepsSeen:
    """Steps, as a few stretches: memory does not grow with the run."""

    __slots__ = ("count", "stretches")

    def __init__(self) -> None:
        self.count = 0
        self.stretches: list[list[int]] = []  # first, last, every (0: irregular, or one step)

    def add(self, step: int, times: int = 1) -> None:
        self.count += times
        if not self.stretches:
            self.stretches.append([step, step, 0])
            return
        latest = self.stretches[-1]
        gap = step - latest[1]
        if gap <= 0:
            return
        if gap == latest[2]:
            latest[1] = step
        elif latest[0] == latest[1]:
            latest[1], latest[2] = step, gap
        else:
            self._append([step, step, 0])

    def _append(self, stretch: list[int]) -> None:
        self.stretches.append(stretch)
        if len(self.stretches) > KEPT_STRETCHES:
            first, second = self.stretches[:2]
            self.stretches[:2] = [[first[0], second[1], 0]]

    def frozen(self) -> tuple[Stretch, ...]:
        return tuple(Stretch(a, b, 1 if a == b else every) for a, b, every in self.stretches)


class Writer:
    """One row of the ledger."""

    __slots__ = ("conditional", "handle", "method", "origin", "place", "runs", "seen", "traced")

    def __init__(self, handle: int, origin: Origin, method: str, place: Any, traced: bool) -> None:
        self.handle, self.origin, self.method, self.place, self.traced = handle, origin, method, place, traced
        self.seen = StepsSeen()
        self.runs: list[Runs] = []
        self.conditional = False


Written = tuple[Writer, VariableEntry]  # one write that was noted


class Runs:
    """How often, and when, one compiled function ran."""

    __slots__ = ("seen", "updates", "writers")

    def __init__(self, writers: list[Writer], updates: bool) -> None:
        self.writers = writers
        self.seen = StepsSeen()
        self.updates = updates  # each run is a step


class LedgerBook:
    def __init__(self, variables: VariableBook, watched: Container[Any]) -> None:
        self._variables = variables
        self._watched = watched  # graphs whose ops were noted while they were traced
        self.step = 0
        self.optimizer = ""  # the one whose update runs now
        self.place: Any = None  # where it was asked for
        self.steps_per_run = 1
        self.dropped = 0
        self._writers: dict[Any, Writer] = {}
        self._traced: weakref.WeakKeyDictionary[Any, dict[Writer, None]] = weakref.WeakKeyDictionary()
        self._runs: weakref.WeakKeyDictionary[Any, Runs] = weakref.WeakKeyDictionary()
        self._updating: weakref.WeakSet[Any] = weakref.WeakSet()  # graphs that update with gradients
        self._updated_by: set[str] = set()  # since the step began
        self.written: list[Written] | None = None  # by the update that runs now, where somebody wants to know

    # -- the clock ---------------------------------------------------------------------------------

    def tape_entered(self) -> None:
        """Outside compiled code: after an update, that is the next step."""
        if self._updated_by or not self.step:
            self._tick(1)

    def updating(self, optimizer: str, graph: Any, place: Any) -> None:
        """An optimizer's update begins, at once or while a graph is traced."""
        self.optimizer, self.place = optimizer, place
        if graph is not None:
            self._updating.add(graph)
            return
        if not self._updated_by.isdisjoint((optimizer, _COMPILED)) or not self.step:  # a loop without tapes
            self._tick(1)
        self._updated_by.add(optimizer)

    def updated(self) -> None:
        self.optimizer = ""

    def wrote_gradient(self, graph: Any) -> None:
        """User code made an update of its own."""
        if graph is None:
            self._updated_by.add("")
        else:
            self._updating.add(graph)

    def _tick(self, steps: int) -> None:
        self.step += steps
        self._updated_by.clear()

    # -- writes ------------------------------------------------------------------------------------

    def _look_back(self, graph: Any) -> None:
        """A graph that was traced before anybody watched."""
        if graph in self._watched:  # it is known better
            return
        for entry, origin, op_type, place in older_writes(self._variables, graph):
            if origin.kind is WriterKind.OPTIMIZER:
                self._updating.add(graph)
            self._row(entry, origin, op_type, place, graph)

    def note(
        self, entry: VariableEntry, op_type: str, place: Any, frame: FrameType, layers: tuple[str, ...], graph: Any
    ) -> None:
        """One op that writes, inside these layers; with a graph, it was traced into it and not run."""
        origin = origin_of(frame, layers, self.optimizer, _is_constrained(entry))
        if origin is None:
            return
        self._row(entry, origin, op_type, place, graph)

    def _row(self, entry: VariableEntry, origin: Origin, op_type: str, place: Any, graph: Any) -> None:
        if entry.name.startswith(OWN):
            return
        first = self._variables.first_copy(entry)
        if first is not entry and graph is None:  # told when the first copy was written
            return
        entry = first
        key = (entry.id, origin, op_type, place, None if graph is None else id(graph))
        writer = self._writers.get(key)
        if writer is None:
            if len(self._writers) >= KEPT_WRITERS:
                self.dropped += 1
                return
            writer = self._writers[key] = Writer(entry.id, origin, method_of(op_type), place, graph is not None)
        if graph is None:
            writer.seen.add(self.step)
            if self.written is not None:
                self.written.append((writer, entry))
        else:
            self._traced.setdefault(graph, {})[writer] = None

    def wrote_again(self, writes: list[Written]) -> None:
        """An update wrote what one like it did before."""
        for writer, entry in writes:
            writer.seen.add(self.step)
            self._variables.wrote(entry)

    def ran(self, graphs: Iterable[Any]) -> None:
        """A compiled function ran."""
        for graph in graphs:
            runs = self._runs.get(graph)
            if runs is None:
                runs = self._runs[graph] = self._runs_of(graph)
            self.ran_again(runs)

    def runs_known(self, graph: Any) -> Runs:
        """Of a graph that ran before."""
        return self._runs[graph]

    def ran_again(self, runs: Runs) -> None:
        """The same function ran."""
        if runs.updates:
            for _ in range(self.steps_per_run):
                self.step += 1
                runs.seen.add(self.step)
            self._updated_by = {_COMPILED}
        elif runs.writers:
            runs.seen.add(self.step)

    def _runs_of(self, graph: Any) -> Runs:
        found: list[Writer] = []
        updates = False
        for inner, conditional in graphs_inside(graph):
            self._look_back(inner)
            updates = updates or inner in self._updating
            for writer in self._traced.get(inner, ()):
                writer.conditional = writer.conditional or conditional
                found.append(writer)
        runs = Runs(found, updates)
        for writer in found:
            writer.runs.append(runs)
        return runs

    def runs_of(self, optimizer: str, variables: set[int]) -> int | None:
        """How often a compiled update by this optimizer changed these variables."""
        mine = [
            w for w in self._writers.values() if w.traced and w.handle in variables and w.origin.writer == optimizer
        ]
        return max((sum(runs.seen.count for runs in writer.runs) for writer in mine), default=None)

    # -- as data -----------------------------------------------------------------------------------

    def writes(self) -> tuple[Write, ...]:
        return tuple(self._frozen(writer) for writer in self._writers.values() if not writer.traced or writer.runs)

    def _frozen(self, writer: Writer) -> Write:
        seen = [runs.seen for runs in writer.runs] if writer.traced else [writer.seen]
        stretches = itertools.chain.from_iterable(each.frozen() for each in seen)
        return Write(
            variable=VariableId(writer.handle),
            kind=writer.origin.kind,
            writer=writer.origin.writer,
            method=writer.method,
            where=span(writer.place),
            count=sum(each.count for each in seen),
            steps=tuple(sorted(stretches, key=lambda stretch: stretch.first)),
            compiled=writer.traced,
            conditional=writer.conditional,
        )


def _is_constrained(entry: VariableEntry) -> bool:
    for reference in (entry.keras, entry.reference):
        variable = reference() if reference is not None else None
        if getattr(variable, "constraint", None) is not None:
            return True
    return False
