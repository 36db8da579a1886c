"""Totals that are the same whatever goes in, since what they add up was normalised before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from whygrad.graph.node import Action, Op, OpKind, TensorId
from whygrad.graph.questions.query import Index
from whygrad.graph.questions.zeros import TOTALS, Zeroed, only_through
from whygrad.graph.recording import Request

NEAR: Final = 4  # ops, between a total and the quotient that divides by it
_Axes = frozenset[int]


@dataclass(frozen=True, slots=True)
class _Normalised:
    axes: _Axes
    squares: bool  # the sum of its squares is always the same; else its own sum


def conserved_totals(request: Request, index: Index) -> list[Zeroed]:
    """Sources whose every way to the target goes through what is normalised and then added up again."""
    found = []
    for op in request.graph.ops:
        kept = _normalised(index, op) if request.tape in op.tapes else None
        totals = [] if kept is None else _totals(index, request, op, kept)
        if totals:
            dead = only_through(op, request, index)
            found += [Zeroed(totals[0], dead)] if dead else []
    return found


def _normalised(index: Index, op: Op) -> _Normalised | None:
    if op.action is Action.SOFTMAX:
        shape = index.tensors[op.outputs[0]].shape
        return None if not shape else _Normalised(frozenset({len(shape) - 1}), squares=False)
    if op.action not in (Action.DIVIDE, Action.MULTIPLY, Action.SUBTRACT) or len(op.inputs) != 2:
        return None
    own, by = op.inputs
    total, root = _total_before(index, by)
    if total is None:
        return None
    if root is None:
        wanted = {Action.DIVIDE: Action.SUM, Action.SUBTRACT: Action.MEAN}.get(op.action)
        return _on(index, total, squares=False) if total.inputs[0] == own and total.action is wanted else None
    fits = op.action is (Action.MULTIPLY if root.action is Action.RECIPROCAL_ROOT else Action.DIVIDE)
    return _on(index, total, squares=True) if fits and _is_square_of(index, total.inputs[0], own) else None


def _on(index: Index, total: Op, *, squares: bool) -> _Normalised | None:
    before, after = index.tensors[total.inputs[0]].shape, index.tensors[total.outputs[0]].shape
    if before is None or after is None or len(before) != len(after):
        return None
    axes = frozenset(k for k, size in enumerate(after) if size == 1 != before[k])
    return _Normalised(axes, squares) if axes else None


def _total_before(index: Index, tensor: TensorId) -> tuple[Op | None, Op | None]:
    """The total that a tensor is, or is the root of, and that root; a bound that keeps it from zero is passed over."""
    root = None
    for _ in range(NEAR):
        op = next(iter(index.makers.get(tensor, ())), None)
        if op is None or not op.inputs or op.action in TOTALS:
            return (op if op is not None and op.inputs else None), root
        if op.kind is OpKind.SQRT and root is None:
            root = op
        elif op.kind is not OpKind.CLIP:
            break
        tensor = op.inputs[0]
    return None, root


def _is_square_of(index: Index, tensor: TensorId, own: TensorId) -> bool:
    makers = index.makers.get(tensor, ())
    return any(_is_squaring(op) and set(op.inputs[:1]) == {own} for op in makers)


def _is_squaring(op: Op) -> bool:
    return op.action is Action.SQUARE or (op.action is Action.MULTIPLY and len(set(op.inputs)) == 1)


def _totals(index: Index, request: Request, op: Op, kept: _Normalised) -> list[Op]:
    """The totals in which the result of an op ends, all over the right axes; none where it goes anywhere else."""
    behind = index.behind(request.targets)
    ends = list[Op]()
    todo = [(tensor, not kept.squares) for tensor in op.outputs]
    while todo:
        tensor, is_ready = todo.pop()
        for user, position in index.users.get(tensor, ()):
            if behind.isdisjoint(user.outputs) or user.kind is OpKind.SHAPE or (position > 0 and _is_squaring(user)):
                continue
            if is_ready and user.action in TOTALS and _covers(index, user, kept.axes):
                ends.append(user)
            elif not is_ready and _is_squaring(user):
                todo += [(each, True) for each in user.outputs]
            else:
                return []
    return ends


def _covers(index: Index, total: Op, axes: _Axes) -> bool:
    """Whether a total adds up along these axes; where shapes leave that open, it is taken not to."""
    before, after = index.tensors[total.inputs[0]].shape, index.tensors[total.outputs[0]].shape
    if before is None or after is None:
        return False
    if not after or len(after) == len(before):
        return not after or all(after[k] == 1 for k in axes)
    rest = tuple(size for k, size in enumerate(before) if k not in axes)
    return after == rest and not any(before[k] in rest for k in axes)
