"""What functions and operators of the framework make of their arguments."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from whygrad.backends.api import Does
from whygrad.lint.flow.machine import Machine
from whygrad.lint.values.reach import flat as parts
from whygrad.lint.values.reach import nodes_in
from whygrad.lint.values.value import Function, Group, Items, Kind, Known, Literal, Node, Object, Value

OPERATORS: Final[dict[type[ast.AST], Does]] = {
    ast.Add: Does.ADD,
    ast.Sub: Does.SUBTRACT,
    ast.Mult: Does.MULTIPLY,
    ast.Div: Does.DIVIDE,
    ast.FloorDiv: Does.ROUND,
    ast.Pow: Does.POWER,
    ast.MatMult: Does.SMOOTH,
    ast.Mod: Does.SMOOTH,
    ast.BitAnd: Does.COMPARE,
    ast.BitOr: Does.COMPARE,
}
_WHOLE: Final = (Does.COMPARE, Does.INDEX, Does.SHAPE)  # what gives integers or truth values
_SAME_DTYPE: Final = (
    *(Does.MOVE, Does.SUM, Does.REDUCE, Does.ABS, Does.SQUARE, Does.NEGATE, Does.MAXIMUM, Does.MINIMUM, Does.ADD),
    *(Does.SUBTRACT, Does.MULTIPLY, Does.GATHER, Does.CLIP, Does.STOP, Does.SIGN, Does.SELECT),
)


class Operations(Machine):
    """Operators and functions."""

    def operate(self, does: Does, operands: tuple[Value, ...], where: ast.expr) -> Value:
        """An operator between two values."""
        left, right = operands[0], operands[-1]
        if does is Does.ADD and isinstance(left, Items) and isinstance(right, Items):
            return Items([*left.items, *right.items], where, complete=left.complete and right.complete)
        if does is Does.ADD and isinstance(left, Items) and isinstance(right, Node) and right.kind is Kind.UNKNOWN:
            return Items([*left.items, right], where, complete=False)
        if does is Does.MULTIPLY and len(operands) == 2 and any(isinstance(each, Items) for each in operands):
            return self._repeat(operands, where)
        if all(isinstance(each, Literal) for each in operands):
            return _folded(does, operands, where)
        return self.node(self.mixed(operands), where, does, operands, _arithmetic_dtype(does, operands))

    def _repeat(self, operands: tuple[Value, ...], where: ast.expr) -> Value:
        items, times = operands if isinstance(operands[0], Items) else operands[::-1]
        if not isinstance(items, Items):
            return self.unknown(where, operands)
        count = times.value if isinstance(times, Literal) and isinstance(times.value, int) else 0
        known = 0 < count < 9
        made = Items(items.items * (count if known else 1), where, complete=items.complete and known)
        made.repeated = bool(items.items)
        self.facts.lists.append(made)
        return made

    def mixed(self, operands: tuple[Value, ...]) -> Kind:
        """The kind of what is computed from these: a tensor where one of them is."""
        kinds = {each.kind for each in nodes_in(operands)}
        if kinds & {Kind.TENSOR, Kind.VARIABLE}:
            return Kind.TENSOR
        if Kind.UNKNOWN in kinds or any(isinstance(each, (Object, Known)) for each in operands):
            return Kind.UNKNOWN
        return Kind.ARRAY if Kind.ARRAY in kinds else Kind.NUMBER

    def compute(self, does: Does, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        """A function of the framework on its arguments."""
        inputs = (*arguments, *(value for name, value in words.items() if name not in _SETTINGS))
        if does in (Does.CALLS, Does.CALLS_PYTHON):
            return self._calling(arguments, words, where, alone=does is Does.CALLS_PYTHON)
        if does in (Does.CONSTANT, Does.FILLED, Does.NOISE) and not _depends(inputs):
            inputs = ()
        if does is Does.SELECT and len(arguments) == 1 and len(words) == 0:
            does = Does.INDEX
        if does is Does.TO_ARRAY:
            return self.node(Kind.ARRAY, where, does, inputs)
        if does is Does.CLIP_GRADIENTS:
            return self._clipped(arguments, where)
        made = self.node(Kind.TENSOR, where, does, inputs, self._dtype(does, arguments, words))
        made.words = words
        return made

    def _calling(self, arguments: list[Value], words: dict[str, Value], where: ast.Call, *, alone: bool) -> Value:
        """`cond`, `map_fn` and their like call the functions that they are given; `alone`: Python runs them."""
        given = [*arguments, *words.values()]
        rest = tuple(each for each in given if not isinstance(each, (Function, Object)))
        results = []
        for each in given:
            for one in parts(each):
                if isinstance(one, (Function, Object)):
                    with self.inside(replace(self.place, traced=None) if alone else self.place):
                        results.append(self.call(one, self._turn(one, rest, where), {}, where))
        return self.node(Kind.TENSOR, where, Does.SMOOTH, tuple(results) if alone and results else (*results, *rest))

    def _turn(self, function: Value, rest: tuple[Value, ...], where: ast.Call) -> list[Value]:
        if not isinstance(function, Function):
            return list(rest)
        count = len(function.node.args.args) - (function.self_ is not None)
        given = [each for value in rest for each in (value.items if isinstance(value, Items) else [value])]
        nodes = [each for each in given if isinstance(each, Node)]
        return [nodes[i] if i < len(nodes) else self.unknown(where) for i in range(count)]

    def _clipped(self, arguments: list[Value], where: ast.Call) -> Value:
        """Clipped gradients, each of what it was of; by the global norm they come with the norm."""
        if not arguments:
            return self.unknown(where)
        if not isinstance(arguments[0], Items):
            return self._clipped_one(tuple(arguments), where)
        clipped: list[Value] = [self._clipped_one((each,), where) for each in arguments[0].items]
        norm = self.node(Kind.TENSOR, where, Does.NORM, tuple(arguments[0].items))
        return Items([Items(clipped, where, complete=arguments[0].complete), norm], where)

    def _clipped_one(self, inputs: tuple[Value, ...], where: ast.Call) -> Node:
        made = self.node(Kind.TENSOR, where, Does.CLIP_GRADIENTS, inputs)
        made.of = inputs[0].of if isinstance(inputs[0], Node) else None
        return made

    def _dtype(self, does: Does, arguments: list[Value], words: dict[str, Value]) -> str | None:
        named = words.get("dtype")
        if named is None and does in (Does.CAST, Does.CONSTANT, Does.FILLED, Does.NOISE, Does.SHAPE):
            named = next((each for each in arguments[1:] if self.dtype_named(each) is not None), None)
        if named is not None:
            return self.dtype_named(named)
        if does is Does.SHAPE and arguments:
            return "int" if isinstance(arguments[0], Node) and arguments[0].dtype == "int" else None
        if does in _WHOLE:
            return "int"
        if does is Does.CONSTANT:
            return common_dtype(map(dtype_of, parts(arguments[0]))) if arguments else None
        if does in _SAME_DTYPE:
            return _arithmetic_dtype(does, tuple(arguments))
        return "float" if does is not Does.CAST else None

    def dtype_named(self, value: Value) -> str | None:
        """`int` or `float` for a dtype of the framework or its name; None where it is neither."""
        name = value.dotted.rpartition(".")[2] if isinstance(value, Known) else None
        if isinstance(value, Literal) and isinstance(value.value, str):
            name = value.value
        if name in self.api.integers:
            return "int"
        return "float" if name in self.api.floats else None

    def variables_of(self, group: Group, where: ast.AST) -> Items:
        """The list of an object's variables, as one entry that stands for them all."""
        made = self.node(Kind.VARIABLE, where)
        made.group = group
        made.trainable = group.which == "trainable" or None
        return Items([made], where)


_SETTINGS: Final = frozenset(
    ("axis", "keepdims", "name", "dtype", "seed", "shape", "depth", "num_classes", "batch_dims", "from_logits", "Tout")
)


def _depends(inputs: tuple[Value, ...]) -> bool:
    return any(each.kind is not Kind.NUMBER or each.inputs for each in nodes_in(inputs))


def common_dtype(dtypes: Iterable[str | None]) -> str | None:
    """The dtype of what is computed from values of these."""
    found = set(dtypes)
    if "float" in found:
        return "float"
    return "int" if found == {"int"} else None


def dtype_of(value: Value) -> str | None:
    if isinstance(value, Literal):
        return "int" if isinstance(value.value, int) else "float" if isinstance(value.value, float) else None
    return value.dtype if isinstance(value, Node) else None


def _arithmetic_dtype(does: Does, operands: tuple[Value, ...]) -> str | None:
    if does is Does.COMPARE:
        return "int"
    if does is Does.GATHER:
        operands = operands[:1]
    if does is Does.SELECT:
        operands = operands[1:]
    found = common_dtype(dtype_of(each) for value in operands for each in parts(value))
    return None if found == "int" and does is Does.DIVIDE else found


def _folded(does: Does, operands: tuple[Value, ...], where: ast.expr) -> Value:
    """Arithmetic of numbers that are written out."""
    values = [each.value for each in operands if isinstance(each, Literal)]
    try:
        match does, values:
            case Does.NEGATE, [int() | float() as one]:
                return Literal(-one, where)
            case Does.POWER, [int() | float() as one, int() | float() as other] if abs(other) < 64 and abs(one) < 1e9:
                return Literal(one**other, where)
            case _, [int() | float() as one, int() | float() as other] if does in _FOLDED:
                return Literal(_FOLDED[does](one, other), where)
    except (ArithmeticError, ValueError):
        pass
    return Literal(..., where)


_FOLDED: Final[dict[Does, Callable[[float, float], float]]] = {
    Does.ADD: operator.add,
    Does.SUBTRACT: operator.sub,
    Does.MULTIPLY: operator.mul,
    Does.DIVIDE: operator.truediv,
}
