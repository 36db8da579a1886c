"""THE data: what ran."""

from whygrad.graph.event import Event, Failure
from whygrad.graph.ledger import Ledger
from whygrad.graph.node import (
    Action,
    Flow,
    Graph,
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
from whygrad.graph.numbers import GradientNumbers
from whygrad.graph.recording import Outcome, Pairing, Recording, Request, Source, Update

__all__ = [
    "Action",
    "Event",
    "Failure",
    "Flow",
    "GradientNumbers",
    "Graph",
    "Ledger",
    "Op",
    "OpId",
    "OpKind",
    "Outcome",
    "Pairing",
    "Recording",
    "Request",
    "Source",
    "Tape",
    "TapeId",
    "Tensor",
    "TensorId",
    "Update",
    "Variable",
    "VariableId",
]
