"""THE data: what ran."""

from whygrad.graph.event import Event
from whygrad.graph.failure import Failure, FailureKind, Held, Operand
from whygrad.graph.ledger import Ledger
from whygrad.graph.node import (
    Action,
    Departure,
    Flow,
    Graph,
    Lapse,
    Op,
    OpId,
    OpKind,
    Tape,
    TapeId,
    Tensor,
    TensorId,
    Variable,
    VariableId,
)
from whygrad.graph.numbers import GradientNumbers, TermNumbers
from whygrad.graph.recording import NotATensor, Outcome, Pairing, Recording, Request, Source, Update

__all__ = [
    "Action",
    "Departure",
    "Event",
    "Failure",
    "FailureKind",
    "Flow",
    "GradientNumbers",
    "Graph",
    "Held",
    "Lapse",
    "Ledger",
    "NotATensor",
    "Op",
    "OpId",
    "OpKind",
    "Operand",
    "Outcome",
    "Pairing",
    "Recording",
    "Request",
    "Source",
    "Tape",
    "TapeId",
    "Tensor",
    "TensorId",
    "TermNumbers",
    "Update",
    "Variable",
    "VariableId",
]
