"""Whether a variable holds data that only enters a pass, as a batch does, or takes part in it as a weight."""

from __future__ import annotations

from collections.abc import Iterable, Set

from whygrad.graph.node import Op, OpKind, TensorId, VariableId
from whygrad.graph.questions.query import Index

_ALONE = (OpKind.MOVE, OpKind.CAST, OpKind.SHAPE)


def is_fed_in(index: Index, reads: Iterable[Op], trained: Set[VariableId]) -> bool:
    """Whether what is read meets the trained variables first, or outside of all layers what is computed from them.

    A weight meets the data of the pass, or what the layers before it made of them.
    """
    todo = [(read, tensor) for read in reads for tensor in read.outputs]
    seen: set[TensorId] = set()
    met = False
    while todo:
        read, tensor = todo.pop()
        for op, _ in index.users.get(tensor, ()) if tensor not in seen else ():
            others = [each for each in op.inputs if each != tensor]
            if op.kind in _ALONE or all(_is_number(index, each) for each in others):
                todo += [(read, each) for each in op.outputs]
            elif all(_is_read_of(index, each, trained) for each in others) or _is_compared(read, op):
                met = True
            else:
                return False
        seen.add(tensor)
    return met


def _is_number(index: Index, tensor: TensorId) -> bool:
    """A number that is written in the program, or indices."""
    known = index.tensors[tensor]
    made = any(op.kind is not OpKind.CONSTANT for op in index.makers.get(tensor, ()))
    return not known.is_floating or (not made and known.shape in ((), (1,)))


def _is_read_of(index: Index, tensor: TensorId, trained: Set[VariableId]) -> bool:
    makers = index.makers.get(tensor, ())
    return bool(makers) and all(op.kind is OpKind.READ and op.variable in trained for op in makers)


def _is_compared(read: Op, op: Op) -> bool:
    """Labels, or weights of examples: read by the training loop itself, for the loss."""
    return not read.layers and op.kind is not OpKind.CONTRACT
