"""Copies of variables, so that a replay can write without touching the user's own."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.op_table import WRITE_PREFIXES

_ON_VARIABLES = ("ReadVariableOp", "ResourceGather", "VariableShape", "VarIsInitializedOp", *WRITE_PREFIXES)


class ScratchVariables:
    """One copy for each variable that is touched, made when it is; `snapshot` has the values to begin with."""

    def __init__(self, snapshot: dict[int, Any]) -> None:
        self._snapshot = snapshot
        self._copies: dict[int, Any] = {}  # handle id -> handle of the copy

    def swap(self, op_type: str, inputs: list[Any]) -> list[Any]:
        """The inputs of an op with the handles of variables exchanged."""
        if not op_type.startswith(_ON_VARIABLES):
            return inputs
        return [self._copy(tensor) if tensor.dtype is compat.resource_dtype else tensor for tensor in inputs]

    def exchange(self, tensors: Iterable[Any], known: Container[int]) -> list[Any]:
        """The tensors with the handles of these variables exchanged."""
        return [self._copy(tensor) if compat.tensor_id(tensor) in known else tensor for tensor in tensors]

    def value(self, handle: int) -> Any:
        """What a variable holds now, None where the replay never touched it."""
        copy = self._copies.get(handle)
        return None if copy is None else compat.read_handle(copy)

    def _copy(self, handle: Any) -> Any:
        copy = self._copies.get(compat.tensor_id(handle))
        if copy is None:
            value = self._snapshot.get(compat.tensor_id(handle))
            copy = compat.copy_of_variable(handle, value)
            self._copies[compat.tensor_id(handle)] = copy
        return copy
