"""Running the ops behind a target once more, one by one, from the recorder's log and what the episode held."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from types import FrameType
from typing import Any, NamedTuple

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.episode import Episode
from whygrad.backends.tensorflow.log.op_record import CUSTOM, OpRecord
from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.nonfinite.replay.functions import Interpreter
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, ReplayError, Site, Trace, Value
from whygrad.backends.tensorflow.nonfinite.watched import Watched
from whygrad.graph import OpKind

MAX_OPS = 200_000


class Step(NamedTuple):
    """One record of the log that was run again, as the way back needs it."""

    record: OpRecord
    node: Node


class EagerReplay:
    """The forward pass of one request."""

    def __init__(self, watched: Watched, episode: Episode, targets: Iterable[int]) -> None:
        self.watched = watched
        self.episode = episode
        self.trace = Trace()
        self.steps: list[Step] = []
        self.interpreter = Interpreter(watched, self.trace)
        self.asked_from: FrameType | None = None  # a frame; user code below it is a gradient function
        self._records = self._needed(targets)

    def run(self) -> None:
        for record in self._records:
            self._run(record)

    def value(self, number: int) -> Value | None:
        """The value of a tensor of the user's run."""
        known = self.trace.values.get(number)
        if known is None and number in self.episode.held:
            known = self.trace.values[number] = Value(self.episode.held[number], None, number)
        return known

    def _needed(self, targets: Iterable[int]) -> list[OpRecord]:
        """The records of this episode that the targets are made by, in order."""
        recent: list[OpRecord] = []
        for record in reversed(self.watched.recorder.records):
            if record.sequence <= self.episode.start:
                break
            recent.append(record)
        makers: dict[int, list[OpRecord]] = defaultdict(list)
        for record in recent:
            for facts in record.outputs:
                makers[facts.id].append(record)
        found: dict[int, OpRecord] = {}
        todo = list(targets)
        while todo:
            for record in makers.get(todo.pop(), ()):
                if record.sequence not in found:
                    found[record.sequence] = record
                    todo.extend(record.inputs)
        if len(found) > MAX_OPS:
            raise ReplayError(f"the step has more than {MAX_OPS} ops")
        return [found[sequence] for sequence in sorted(found)]

    def _run(self, record: OpRecord) -> None:
        home = record.laid_at or record
        site = Site(home.place, home.layers)
        if record.type == CUSTOM:
            self._note_custom(record, site)
            return
        if all(facts.id in self.episode.held for facts in record.outputs) and record.outputs:
            self._take_held(record, site)
            return
        if not record.outputs:
            return  # a write, a print: its effect is there already
        inputs = tuple(self._input(number) for number in record.inputs)
        if record.calls:
            self._call(record, inputs, site)
            return
        if compat.is_stateful(record.type) and kind_of(record.type) is not OpKind.READ:
            raise ReplayError(f"`{record.type}` cannot be run a second time")
        attrs = compat.given_attributes(record.type, record.attrs)
        node = Node(record.type, inputs, site, attrs)
        results = compat.run_op(record.type, len(record.outputs), [value.tensor for value in inputs], attrs)
        self._keep(record, node, results)

    def _keep(self, record: OpRecord, node: Node, results: Iterable[Any]) -> None:
        self.trace.add(node, results)
        for facts, value in zip(record.outputs, node.outputs, strict=False):
            if value is not None:
                value.number = facts.id
                self.trace.values[facts.id] = value
        self.steps.append(Step(record, node))

    def _input(self, number: int) -> Value:
        value = self.value(number)
        if value is None:
            entry = self.watched.variables.entries.get(number)
            variable = None if entry is None or entry.reference is None else entry.reference()
            if variable is None:
                raise ReplayError("a value that the step used is gone")
            value = self.trace.values[number] = Value(variable.handle, None, number)
        return value

    def _take_held(self, record: OpRecord, site: Site) -> None:
        """Reads, random draws and Python functions are not repeated: their results were kept."""
        foreign = kind_of(record.type) is OpKind.FOREIGN
        inputs = tuple(self._input(number) for number in record.inputs) if foreign else ()
        node = Node(record.type, inputs, site, record.attrs)
        values = []
        for facts in record.outputs:
            value = Value(self.episode.held[facts.id], None, facts.id)
            if kind_of(record.type) is OpKind.READ and record.inputs:
                value.handle = record.inputs[0]
            else:
                value.maker = node
            values.append(value)
        self._keep(record, node, values)

    def _note_custom(self, record: OpRecord, site: Site) -> None:
        """What ran inside has been run; only the way back is the user's own."""
        node = Node(CUSTOM, tuple(self.value(number) for number in record.inputs), site, order=len(self.trace.nodes))
        node.outputs = tuple(self.value(facts.id) for facts in record.outputs)
        self.trace.nodes.append(node)
        self.steps.append(Step(record, node))

    def _call(self, record: OpRecord, inputs: tuple[Value, ...], site: Site) -> None:
        graph = record.calls[0]
        results = self.interpreter.call(graph, inputs)
        node = Node(record.type, inputs, site)
        # The forward function may give more than the graph that was found: values its gradient will want.
        missing: list[Value | None] = [None] * (len(record.outputs) - len(results))
        self._keep(record, node, [*results, *missing])
