"""The folds of `observe`, told of TensorFlow's ops and asked about TensorFlow's tensors."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.extents import extents_of
from whygrad.backends.tensorflow.log.function_graphs import FunctionNumbers, outermost_handle
from whygrad.backends.tensorflow.log.op_record import OpRecord, TraceLog
from whygrad.backends.tensorflow.log.traced_function import TracedFunction
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.backends.tensorflow.measure.finite import array_of
from whygrad.graph import Action, OpKind
from whygrad.observe.fact import Call, Maker
from whygrad.observe.folds import Folds
from whygrad.observe.label import Label

_MOST_ROW_WRITES: Final = 256
_JOIN, _SPLIT, _SCATTER = Action.JOIN, Action.SPLIT, Action.SCATTER  # asked for every op


@dataclass(slots=True, eq=False)
class RowWrite:
    """An op of a traced function that puts rows in place of others; the numbers are ids of its tensors."""

    graph: weakref.ref[Any]
    record: OpRecord
    label: Label | None = None  # what went into the rows, once that is known
    looked: bool = False

    def learn(self, label: Label) -> None:
        self.label = label


class Observed:
    def __init__(
        self, variables: VariableBook, producers: Mapping[int, OpRecord | None], traces: Mapping[Any, TraceLog]
    ) -> None:
        self.functions = FunctionNumbers()
        self.row_writes: list[RowWrite] = []  # in traced functions
        self.folds = Folds(self._variable_held)
        self._variables = variables
        self._traces = traces
        self._made_at_once: Maker = producers.get

    def op(self, record: OpRecord, inputs: Sequence[Any], outputs: Sequence[Any], graph: Any) -> None:
        """An op ran, or was traced, while gradients are about."""
        folds, action = self.folds, record.action
        if (action is _JOIN or action is _SPLIT) and not folds.labels.tensors.keys().isdisjoint(record.inputs):
            record.extents = extents_of(record.type, inputs, outputs)
        if graph is not None:
            if action is _SCATTER and record.kind is OpKind.WRITE and len(self.row_writes) < _MOST_ROW_WRITES:
                write = RowWrite(weakref.ref(graph), record)
                self.row_writes.append(write)
                self.await_label(inputs[2], graph, write.learn)
            folds.follow(record, self.maker_in(graph), self.function(graph, inputs))
        elif record.calls:
            graphs = [each for each in record.calls if each is not None]
            if not folds.passes_by(record.inputs, map(self.functions.of, graphs)):
                folds.called(record, Call(tuple(map(self.function, graphs)), record.inputs))
        else:
            if action is _SCATTER and record.kind is OpKind.WRITE:
                self.rows_written(record, folds.labels.tensors.get(record.inputs[2]), inputs)
            folds.follow(record, self._made_at_once)

    def rows_written(
        self, record: OpRecord, label: Label | None, inputs: Sequence[Any], *, compiled: bool = False
    ) -> None:
        """Rows were put in place of others: `inputs` are the handle of a variable, which rows, and what is written."""
        variable = compat.tensor_id(inputs[0])
        if label is None or not self.folds.rows.takes(variable, label):
            return
        rows, written = array_of(inputs[1]), array_of(inputs[2])
        if rows is not None and written is not None:
            rows = rows.reshape(-1, rows.shape[-1] if "Nd" in record.type and rows.ndim else 1)
            self.folds.rows.note(variable, record.place, rows, written, label, compiled=compiled)

    def label_of(self, tensor: Any) -> Label | None:
        """What went into a gradient, where it is known."""
        number, known = compat.id_of(tensor), self.folds.labels.tensors
        graph = getattr(tensor, "graph", None) if known and number not in known else None
        if number is None:
            return None
        return self.folds.labels.of(number, None if graph is None else self.function(graph, [tensor]))

    def await_label(self, tensor: Any, graph: Any, learn: Callable[[Label], None]) -> None:
        """Tell what went into a gradient, now or when the function that is given it is called for the first time."""
        label = self.label_of(tensor)
        if label is not None:
            learn(label)
        elif graph is not None and getattr(tensor, "graph", None) is graph and self.folds.labels.tensors:
            known: list[Label] = []

            def learn_once(arrived: Label) -> None:
                if not known:
                    known.append(arrived)
                    learn(arrived)

            self.folds.labels.calls.await_arguments(
                compat.tensor_id(tensor), self.function(graph, [tensor]), learn_once
            )

    def function(self, graph: Any, tensors: Iterable[Any] = ()) -> TracedFunction:
        """A function graph, as the folds may ask for it, of which these tensors are known."""
        return TracedFunction(self.functions, graph, tensors)

    def function_number(self, graph: Any) -> int | None:
        return None if graph is None else self.functions.of(graph)

    def maker_in(self, graph: Any) -> Maker:
        """Tells the op that made a tensor, of those that ran at once or of a graph."""
        log = None if graph is None else self._traces.get(graph)
        return self._made_at_once if log is None else log.makers.get

    def handles(self, graph: Any) -> dict[int, int]:
        """The handles that a graph captured, with those of the variables they stand for."""
        return {
            compat.tensor_id(inner): outermost_handle(compat.tensor_id(inner), graph)
            for _, inner in getattr(graph, "captures", ())
        }

    def _variable_held(self, value: Any) -> int | None:
        """The variable that a name of the user's holds."""
        entry = self._variables.of(value) if hasattr(type(value), "assign") else None
        return None if entry is None else entry.id
