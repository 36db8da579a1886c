"""Traced functions: what they do with the world around them, and in which order their ops can be run one by one."""

from __future__ import annotations

import heapq
import weakref
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.function_graphs import FUNCTIONAL_OPS, functional_graphs
from whygrad.backends.tensorflow.log.op_table import DRAWING, WRITE_PREFIXES, kind_of
from whygrad.graph import OpKind

DATA_OPS = frozenset({"IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional"})
SIDE_EFFECTS = frozenset(
    {"Print", "PrintV2", "Assert", "NoOp", "WriteScalarSummary", "WriteSummary", "Abort"}
)  # left out
_LOOKING = frozenset({"VarIsInitializedOp", "VariableShape", "Placeholder", "Const"})


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """Positions are those of the function's inputs, captured ones included."""

    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    iterators: frozenset[int] = frozenset()  # that batches are taken from
    draws: bool = False  # random numbers whose state is out of reach
    draws_untold: bool = False  # some of them do not follow from how often the function ran either
    takes_data: bool = False  # a batch from an iterator
    runs_python: bool = False
    has_gradients: bool = False
    has_half: bool = False  # float16 takes part
    reaches_out: bool = False  # to files, tables, queues, other machines: more than variables and a batch
    meets_others: bool = False  # other devices or machines, which wait for it as it does for them


_known: weakref.WeakKeyDictionary[Any, GraphFacts] = weakref.WeakKeyDictionary()


def facts_of_graph(graph: Any) -> GraphFacts:
    """Looked up once for each graph, functions that it calls included."""
    facts = _known.get(graph)
    if facts is None:
        _known[graph] = GraphFacts()  # a function that calls itself ends here
        facts = _known[graph] = _examine(graph)
    return facts


def _examine(graph: Any) -> GraphFacts:
    positions = {compat.tensor_id(tensor): i for i, tensor in enumerate(graph.inputs)}
    reads: set[int] = set()
    writes: set[int] = set()
    iterators: set[int] = set()
    names = (
        "draws",
        "draws_untold",
        "takes_data",
        "runs_python",
        "has_gradients",
        "has_half",
        "reaches_out",
        "meets_others",
    )
    flags = dict.fromkeys(names, False)
    for operation in graph.get_operations():
        kind = kind_of(operation.type)
        if draws_from_its_own_state(operation):
            flags["draws"] = True
            flags["draws_untold"] |= not (compat.can_be_drawn_again(operation) and compat.draws_as_many(operation))
        flags["takes_data"] |= operation.type in DATA_OPS
        flags["runs_python"] |= kind is OpKind.FOREIGN
        flags["has_half"] |= any(tensor.dtype.name == "float16" for tensor in operation.outputs)
        flags["meets_others"] |= compat.meets_others(operation.type)
        flags["has_gradients"] |= operation.name.startswith("gradient_tape/")
        if operation.type in FUNCTIONAL_OPS:
            for inner, shift in _inner(operation, graph):
                for name in names:
                    flags[name] |= getattr(inner, name)
                flags["draws_untold"] |= inner.draws and not runs_once(operation)
                reads |= set(_outer(inner.reads, operation, shift, positions))
                writes |= set(_outer(inner.writes, operation, shift, positions))
                iterators |= set(_outer(inner.iterators, operation, shift, positions))
            continue
        flags["reaches_out"] |= (
            compat.is_stateful(operation.type)
            and kind not in (OpKind.READ, OpKind.WRITE, *DRAWING)
            and operation.type not in DATA_OPS | SIDE_EFFECTS | _LOOKING
        )
        touched = {
            positions[compat.tensor_id(t)]
            for t in operation.inputs
            if t.dtype is compat.resource_dtype and compat.tensor_id(t) in positions
        }
        if operation.type.startswith(WRITE_PREFIXES):
            writes |= touched
        if operation.type in DATA_OPS:
            iterators |= touched
        reads |= touched
    return GraphFacts(frozenset(reads), frozenset(writes), frozenset(iterators), **flags)


def draws_from_its_own_state(operation: Any) -> bool:
    """Whether an op draws random numbers, and not from a generator whose state is a variable."""
    if kind_of(operation.type) not in DRAWING or not compat.is_stateful(operation.type):
        return False
    return all(tensor.dtype is not compat.resource_dtype for tensor in operation.inputs)


def runs_once(operation: Any) -> bool:
    """Whether an op runs its function exactly once, op by op: no branch, no loop, nothing for XLA."""
    return operation.type.endswith("PartitionedCall") and not compat.is_compiled_as_a_whole(operation)


def _inner(operation: Any, graph: Any) -> Iterator[tuple[GraphFacts, int]]:
    """The functions an op runs, and by how much their inputs are shifted against the op's."""
    shift = 1 if operation.type.endswith(("If", "Case")) else 0
    for inner in functional_graphs(operation, graph):
        if inner is not None:
            yield facts_of_graph(inner), shift


def _outer(inner: frozenset[int], operation: Any, shift: int, positions: dict[int, int]) -> Iterator[int]:
    inputs = operation.inputs
    for position in inner:
        if position + shift < len(inputs):
            outside = positions.get(compat.tensor_id(inputs[position + shift]))
            if outside is not None:
                yield outside


def ops_in_order(graph: Any) -> list[Any]:
    """The ops that the outputs and the side effects need, each after those it needs itself.

    In the order they were traced as far as that goes: the gradient of a loop gives the loop new inputs afterwards.
    """
    ends = [tensor.op for tensor in graph.outputs] + list(getattr(graph, "control_outputs", ()))
    before = _dependencies(ends, graph)
    ready = [
        (i, name) for i, operation in enumerate(graph.get_operations()) if not before.get(name := operation.name, 1)
    ]
    heapq.heapify(ready)
    after: dict[str, list[str]] = defaultdict(list)
    for name, needs in before.items():
        for need in needs:
            after[need].append(name)
    position = {operation.name: i for i, operation in enumerate(graph.get_operations())}
    order = []
    while ready:
        _, name = heapq.heappop(ready)
        order.append(graph.get_operation_by_name(name))
        for follower in after[name]:
            before[follower].discard(name)
            if not before[follower]:
                heapq.heappush(ready, (position[follower], follower))
    return order


def _dependencies(ends: Iterable[Any], graph: Any) -> dict[str, set[str]]:
    """Every op that these need, with the names of those that must run before it."""
    found: dict[str, set[str]] = {}
    todo = list(ends)
    while todo:
        operation = todo.pop()
        if operation.name in found or operation.graph is not graph:
            continue
        needs = [tensor.op for tensor in operation.inputs] + list(operation.control_inputs)
        found[operation.name] = {each.name for each in needs}
        todo.extend(needs)
    return found
