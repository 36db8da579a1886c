"""What is written down of one op, of one tensor, of one traced function."""

from __future__ import annotations

from typing import Any, NamedTuple

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.op_table import meaning_of
from whygrad.observe.fact import OpFact, TensorFacts
from whygrad.observe.place import Place

CUSTOM = "CustomGradient"
__all__ = ["CUSTOM", "Departure", "Leaf", "OpRecord", "TensorFacts", "TraceLog", "facts_of"]


class OpRecord(OpFact):
    """An op of TensorFlow's: what every framework has, and what only TensorFlow can make use of.

    Made for every op that runs: what the base would set up is written out, a call less.
    """

    __slots__ = ("attrs", "blank", "calls", "flat", "laid_at", "type")

    def __init__(self, sequence: int, op_type: str, inputs: tuple[int, ...], outputs: tuple[TensorFacts, ...]) -> None:
        self.kind, self.action = meaning_of(op_type)
        self.sequence = sequence
        self.inputs = inputs
        self.outputs = outputs
        self.place = self.custom = self.blocked = self.function = self.variable = None
        self.callers = self.tapes = self.layers = self.extents = ()
        self.type = op_type
        self.attrs: Any = None
        self.blank: tuple[int, ...] = ()  # products: the inputs that hold nothing but zeros, as far as was looked
        self.flat = False  # it gave nothing but zeros, as far as was looked
        self.calls: tuple[Any, ...] = ()  # the function graphs this op runs
        self.laid_at: OpRecord | None = None  # the forward op whose gradient this op is a part of

    @property
    def is_choice(self) -> bool:
        """Whether its first input says which of its graphs is to run."""
        return self.type.endswith(("If", "Case"))

    @property
    def handed_on(self) -> tuple[int, ...]:
        """The inputs that the graphs it runs are given, in their order."""
        return self.inputs[self.is_choice :]


class Leaf(NamedTuple):
    """A tensor that no op made: it came in from Python, NumPy or a data set."""

    facts: TensorFacts
    sequence: int
    place: Place


class Departure(NamedTuple):
    """A value that left TensorFlow."""

    tensor: int
    how: str
    sequence: int
    place: Place
    bad: bool = False  # seen to be not finite


class TraceLog:
    """The ops of one function graph, in the order they were traced."""

    __slots__ = ("compared", "function", "makers", "records")

    def __init__(self, function: int) -> None:
        self.function = function
        self.records: list[OpRecord] = []
        self.makers: dict[int, OpRecord] = {}
        self.compared = (0, 0)  # how many ops the graph had, and the log, when the one was last completed by the other

    def add(self, record: OpRecord) -> None:
        record.function = self.function
        self.records.append(record)
        for fact in record.outputs:
            self.makers[fact.id] = record


def facts_of(tensor: Any) -> TensorFacts:
    return TensorFacts(compat.tensor_id(tensor), tensor.dtype, compat.shape_of(tensor))
