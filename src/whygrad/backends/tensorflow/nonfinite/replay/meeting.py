"""Ops by which replicas sum or gather, run again as plain sums of what the replicas of this process have.

Run as they are, they would wait for one another.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final, NamedTuple

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, ReplayError, Site, Trace, Value

REDUCE: Final = "CollectiveReduceV2"
GATHER: Final = "CollectiveGatherV2"


class _Comer(NamedTuple):
    operation: Any
    site: Site
    given: Value


class Meeting:
    """Each op gives what it has; when all that are in this process have come, each gets the result."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._groups: defaultdict[tuple[Any, ...], list[_Comer]] = defaultdict(list)

    def join(self, operation: Any, inputs: tuple[Value, ...], site: Site) -> None:
        """An op has come. Raises ReplayError where it is of a kind that cannot be run again."""
        kind = operation.type
        if kind not in (REDUCE, GATHER) or (kind == REDUCE and operation.get_attr("merge_op") != b"Add"):
            raise ReplayError("several replicas take the step together, and none of them can be run again alone")
        size, group, instance = (int(compat.array_view(each.tensor)) for each in inputs[1:4])
        self._groups[kind, group, instance, size].append(_Comer(operation, site, inputs[0]))

    def close(self, known: dict[int, Value]) -> None:
        """Nobody else comes."""
        for (*_, size), comers in self._groups.items():
            if len(comers) < size:
                self._trace.somebody_missing, self._trace.is_exact = True, False
            for comer in comers:
                known[compat.tensor_id(comer.operation.outputs[0])] = self._result(comer, comers, size)

    def _result(self, comer: _Comer, comers: list[_Comer], size: int) -> Value:
        given = [each.given for each in comers]
        kind = comer.given.tensor.dtype
        if comer.operation.type == GATHER:
            axis = Value(compat.int32_tensor(0))
            attrs = ("N", len(given), "T", kind, "Tidx", axis.tensor.dtype)
            return self._run("ConcatV2", [*given, axis], attrs, comer.site)
        total = self._run("AddN", given, ("N", len(given), "T", kind), comer.site)
        if comer.operation.get_attr("final_op") != b"Div":
            return total
        count = Value(compat.run_op("Cast", 1, [compat.int32_tensor(size)], ("DstT", kind))[0])
        return self._run("RealDiv", [total, count], ("T", kind), comer.site)

    def _run(self, kind: str, inputs: list[Value], attrs: tuple[Any, ...], site: Site) -> Value:
        node = Node(kind, tuple(inputs), site, attrs)
        self._trace.add(node, compat.run_op(kind, 1, [each.tensor for each in inputs], attrs))
        (value,) = node.outputs
        assert value is not None
        return value
