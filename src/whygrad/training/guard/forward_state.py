"""What a step's forward pass has written besides the weights: BatchNorm's averages, seeds, running means.

In a graph, the values from before the step are read by ops that are made afterwards, and every write that is there
already is made to wait for them. Small variables that are assigned to share no buffer with what was read, so this costs
next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.training.replicas import copies_of
from whygrad.training.variables import variable_list


class EagerState:
    """Variables the user has named, as the last good step left them."""

    def __init__(self) -> None:
        self._variables: list[Any] = []
        self._values: list[Any] = []

    def __bool__(self) -> bool:
        return bool(self._variables)

    def watch(self, given: Iterable[Any] | Any) -> None:
        """Remember the variables of a model that are not trained, or these variables."""
        variables = given if isinstance(given, type) else getattr(given, "non_trainable_variables", given)
        self._variables = [copy for variable in variable_list(variables) for copy in copies_of(variable)]
        self.take()

    def take(self) -> None:
        self._values = [variable.read_value() for variable in self._variables]

    def put_back(self) -> None:
        for variable, value in zip(self._variables, self._values, strict=True):
            variable.assign(value)


def written_before(own: Iterable[Any]) -> tuple[Callable[[], None], tuple[str, ...]]:
    """What puts back all that the graph that is being traced has written so far, but for `own`; and what it cannot."""
    graph = tf.compat.v1.get_default_graph()
    mine = {compat.tensor_id(compat.captured_handle(graph, variable)) for variable in own}
    writers: dict[int, tuple[Any, list[Any]]] = {}
    for operation in graph.get_operations():
        if not compat.writes_resources(operation):
            continue
        for tensor in operation.inputs:
            number = compat.tensor_id(tensor)
            if tensor.dtype == tf.resource and number not in mine and compat.is_variable_handle(tensor):
                writers.setdefault(number, (tensor, []))[1].append(operation)
    drawn = any(compat.draws_numbers(operation) for operation in graph.get_operations())
    lost = ("the state of `tf.random`'s own generator",) if drawn else ()
    if not compat.can_run_before(graph):
        return lambda: None, ("what the forward pass wrote, in this kind of graph",)
    pairs = [(handle, _value_before(handle, operations)) for handle, operations in writers.values()]

    def put_back() -> None:
        for handle, value in pairs:
            tf.raw_ops.AssignVariableOp(resource=handle, value=value)

    return put_back, (*lost, *_written_around(graph))


def _value_before(handle: Any, writers: Iterable[Any]) -> Any:
    value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=compat.tf_dtype_of_handle(handle))
    compat.run_before(value.op, writers)
    return value


def _written_around(graph: Any) -> tuple[str, ...]:
    """The update is in a function of its own, and the forward pass outside of it."""
    around = getattr(graph, "outer_graph", None)
    if around is None or not hasattr(around, "outer_graph"):
        return ()
    wrote = any(compat.writes_resources(operation) for operation in around.get_operations())
    return ("what the forward pass wrote outside the function that updates",) if wrote else ()
