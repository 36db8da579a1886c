"""What functions and operators of the framework make of their arguments."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Final

from whygrad.backends.api import Does
from whygrad.lint.flow.machine import Machine
from whygrad.lint.values.reach import flat as parts
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
WHOLE: Final = (Does.COMPARE, Does.INDEX, Does.SHAPE)  # what gives integers or truth values
_SAME_DTYPE: Final = (
    *(Does.MOVE, Does.SUM, Does.REDUCE, Does.ABS, Does.SQUARE, Does.NEGATE, Does.MAXIMUM, Does.MINIMUM, Does.ADD),
    *(Does.SUBTRACT, Does.MULTIPLY, Does.GATHER, Does.CLIP, Does.STOP, Does.SIGN, Does.SELECT),
)


class Operations(Machine):
    """Operators and functions."""

    def operate(self, does: Does, operands: tuple[Value, ...], where: ast.expr) -> Value:
        """An operator between two values."""
        left = operands[0]
        if does is Does.ADD and isinstance(left, Items) and isinstance(operands[-1], Items):
            right = operands[-1]
            return Items([*left.items, *right.items], where, complete=left.complete and right.complete)
        if (
            does is Does.ADD
            and isinstance(left, Items)
            and isinstance(operands[-1], Node)
            and operands[-1].kind is Kind.UNKNOWN
        ):
            return Items([*left.items, operands[-1]], where, complete=False)
        if does is Does.MULTIPLY and len(operands) == 2 and any(isinstance(each, Items) for each in operands):
            return self._repeat(operands, where)
        if all(isinstance(each, Literal) for each in operands):
            return _folded(does, operands, where)
        return self.node(self.mixed(operands), where, does, operands, _arithmetic_dtype(does, operands))

    def _repeat(self, operands: tuple[Value, ...], where: ast.expr) -> Value:
        items, times = operands if isinstance(operands[0], Items) else operands[::-1]
        if not isinstance(items, Items):
            return self.unknown(where, operands)
        known = isinstance(times, Literal) and isinstance(times.value, int) and 0 < times.value < 9
        count = times.value if known and isinstance(times, Literal) and isinstance(times.value, int) else 1
        made = Items(items.items * count, where, complete=items.complete and known)
        made.repeated = bool(items.items)
        self.facts.lists.append(made)
        return made

    def mixed(self, operands: tuple[Value, ...]) -> Kind:
        """The kind of what is computed from these: a tensor where one of them is."""
        kinds = {each.kind for value in operands for each in parts(value) if isinstance(each, Node)}
        for kind in (Kind.TENSOR, Kind.VARIABLE):
            if kind in kinds:
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
            made = self.node(Kind.TENSOR, where, Does.CLIP_GRADIENTS, tuple(arguments))
            if isinstance(arguments[0], Node):
                made.of = arguments[0].of
            return made
        clipped: list[Value] = []
        for each in arguments[0].items:
            one = self.node(Kind.TENSOR, where, Does.CLIP_GRADIENTS, (each,))
            one.of = each.of if isinstance(each, Node) else None
            clipped.append(one)
        norm = self.node(Kind.TENSOR, where, Does.NORM, tuple(arguments[0].items))
        return Items([Items(clipped, where, complete=arguments[0].complete), norm], where)

    def _dtype(self, does: Does, arguments: list[Value], words: dict[str, Value]) -> str | None:
        named = words.get("dtype")
        if named is None and does in (Does.CAST, Does.CONSTANT, Does.FILLED, Does.NOISE, Does.SHAPE):
            named = next((each for each in arguments[1:] if self.dtype_named(each) is not None), None)
        if named is not None:
            return self.dtype_named(named)
        if does in WHOLE:
            return "int" if not (does is Does.SHAPE and arguments and _is_like(arguments[0])) else None
        if does is Does.CONSTANT:
            return _literal_dtype(arguments)
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

    def variables_of(self, owner: Value, which: str, where: ast.AST, *, built: bool) -> Items:
        """The list of an object's variables, as one entry that stands for them all."""
        made = self.node(Kind.VARIABLE, where)
        made.group = Group(owner, which, built)
        made.trainable = which == "trainable" or None
        return Items([made], where)


_SETTINGS: Final = frozenset(
    ("axis", "keepdims", "name", "dtype", "seed", "shape", "depth", "num_classes", "batch_dims", "from_logits", "Tout")
)


def _is_like(value: Value) -> bool:
    return not isinstance(value, Node) or value.dtype != "int"


def _depends(inputs: tuple[Value, ...]) -> bool:
    nodes = [each for value in inputs for each in parts(value) if isinstance(each, Node)]
    return any(each.kind is not Kind.NUMBER or each.inputs for each in nodes)


def _literal_dtype(arguments: list[Value]) -> str | None:
    if not arguments:
        return None
    found = {_of_literal(each) for each in parts(arguments[0])}
    if "float" in found:
        return "float"
    return "int" if found == {"int"} else None


def _of_literal(value: Value) -> str | None:
    if isinstance(value, Literal):
        return "int" if isinstance(value.value, (bool, int)) else "float" if isinstance(value.value, float) else None
    return value.dtype if isinstance(value, Node) else None


def _arithmetic_dtype(does: Does, operands: tuple[Value, ...]) -> str | None:
    if does is Does.COMPARE:
        return "int"
    if does is Does.GATHER:
        operands = operands[:1]
    if does is Does.SELECT:
        operands = operands[1:]
    found = {_of_literal(each) for value in operands for each in parts(value)}
    if "float" in found:
        return "float"
    return "int" if found == {"int"} and does is not Does.DIVIDE else None


def _folded(does: Does, operands: tuple[Value, ...], where: ast.expr) -> Value:
    """Arithmetic of numbers that are written out."""
    values = [each.value for each in operands if isinstance(each, Literal)]
    try:
        match does, values:
            case Does.NEGATE, [int() | float() as one]:
                return Literal(-one, where)
            case Does.ADD, [int() | float() as one, int() | float() as other]:
                return Literal(one + other, where)
            case Does.SUBTRACT, [int() | float() as one, int() | float() as other]:
                return Literal(one - other, where)
            case Does.MULTIPLY, [int() | float() as one, int() | float() as other]:
                return Literal(one * other, where)
            case Does.DIVIDE, [int() | float() as one, int() | float() as other]:
                return Literal(one / other, where)
            case Does.POWER, [int() | float() as one, int() | float() as other] if abs(other) < 64 and abs(one) < 1e9:
                return Literal(one**other, where)
    except (ArithmeticError, ValueError):
        pass
    return Literal(..., where)
