"""Values that are cut, made zero or made NaN: an expression put into another one, or a statement put after it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from functools import partial

from ..code import MAIN, Code, called, last_line, tape_name
from .operator import Change, Harm, Operator

LOST = (Harm.NONE, Harm.ZERO)
NAN_RULES = ("nan-log", "nan-sqrt", "nan-norm", "nan-std", "nan-division", "nan-pow", "nan-where", "nan-op")

# What is put around an expression, the rules that may name it, the harm that it does.
AROUND: dict[str, tuple[str, tuple[str, ...], tuple[Harm, ...]]] = {
    "stop": ("tf.stop_gradient({})", ("stop-gradient",), LOST),
    "integer": ("tf.cast(tf.cast({}, tf.int32), tf.float32)", ("non-differentiable-op",), LOST),
    "round": ("tf.round({})", ("non-differentiable-op", "zero-gradient-op"), LOST),
    "sign": ("tf.sign({})", ("zero-gradient-op", "non-differentiable-op"), LOST),
    "compare": ("tf.cast(({}) > 0.5, tf.float32)", ("non-differentiable-op",), LOST),
    "argsort": ("tf.cast(tf.argsort({}, axis=-1), tf.float32)", ("non-differentiable-op",), LOST),
    "numpy": ("tf.constant(({}).numpy())", ("numpy-escape",), LOST),
    "variable": (
        "tf.Variable({})",
        # of a symbolic tensor it is true that no function of TensorFlow takes it
        ("assign-breaks-gradient", "variable-recreated", "variable-created-in-tf-function", "keras3-api-change"),
        (*LOST, Harm.DIED),
    ),
    # TensorFlow has no gradient for this draw at all: the request itself raises.
    "poisson": (
        "tf.random.poisson([], tf.abs({}))",
        ("non-reparameterised-sample", "no-registered-gradient"),
        (*LOST, Harm.REFUSED),
    ),
    "sqrt": ("tf.sqrt(tf.nn.relu({}))", ("nan-sqrt", "nan-norm", "nan-std"), (Harm.NONFINITE,)),
    "log": ("tf.math.log(tf.nn.relu({}))", ("nan-log",), (Harm.NONFINITE,)),
}

# What is put on a line of its own after `name = ...`.
AFTER: dict[str, tuple[str, tuple[str, ...], tuple[Harm, ...]]] = {
    "numpy_function": (
        "{0} = tf.ensure_shape(tf.numpy_function(lambda a: a, [{0}], tf.float32), {0}.shape)",
        ("numpy-escape",),
        LOST,
    ),
    "bernoulli": (
        "{0} = tf.cast(tf.random.uniform(tf.shape({0})) < tf.sigmoid({0}), tf.float32)",
        ("non-reparameterised-sample", "non-differentiable-op"),
        LOST,
    ),
    "hidden_nan": (
        "{0} = tf.where({0} > 0.0, tf.math.log(tf.nn.relu({0})), tf.zeros_like({0}))",
        ("nan-where", "nan-log"),
        (Harm.NONFINITE,),
    ),
}

SETTING_UP = ("__init__", "build", "build_from_config", "get_config", "compile")


def values(code: Code) -> Iterator[ast.Call | ast.BinOp]:
    """Values computed in a step: what is given a name or returned in a function, a `with` block or a loop, and the
    results of layers and functions inside of it."""
    for node in ast.walk(code.tree):
        match node:
            case ast.Assign(targets=[ast.Name()], value=value) | ast.Return(value=value):
                if value is not None and _is_in_a_step(code, node) and not _is_after_backward(code, node):
                    yield from (
                        each
                        for each in ast.walk(value)
                        if (each is value and not _is_builtin(each)) or _is_own_call(each)
                    )  # type: ignore[misc]


def _is_in_a_step(code: Code, node: ast.AST) -> bool:
    function = code.function_of(node)
    if function is not None and function.name != MAIN:
        return function.name not in SETTING_UP
    return any(isinstance(each, ast.With | ast.For) for each in code.above(node))


def _is_after_backward(code: Code, statement: ast.stmt) -> bool:
    """Whether a statement has a gradient or comes after one, outside of any tape: nothing flows back through it."""
    if any(tape_name(each) for each in code.above(statement)):
        return False
    requests = [
        each
        for each in ast.walk(code.function_of(statement) or code.tree)
        if isinstance(each, ast.Call) and called(each, "gradient", "jacobian", "batch_jacobian")
    ]
    return any(
        each.lineno <= last_line(statement) and code.function_of(each) is code.function_of(statement)
        for each in requests
    )


def _is_builtin(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id)


def _is_own_call(node: ast.AST) -> bool:
    """Whether it is a call of an object of the program, such as a layer, and not of a module."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return not _is_builtin(node) and not name[0].isupper()
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"))):
            return True
    return False


def around(template: str, code: Code) -> Iterator[Change]:
    for node in values(code):
        if isinstance(node, ast.Call | ast.BinOp):
            yield Change(code.replaced((node, template.format(code.of(node)))), node.lineno, last_line(node))


def after(template: str, code: Code) -> Iterator[Change]:
    for node in values(code):
        statement = code.statement_of(node)
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node and code.stands_alone(statement):
                line = last_line(statement) + 1
                row = f"{code.indent(statement)}{template.format(name)}\n"
                yield Change(code.rewritten([], {line: [row]}), line, line)


def without_epsilon(code: Code) -> Iterator[Change]:
    """A small number that keeps an expression away from zero, taken out."""
    for node in ast.walk(code.tree):
        kept: ast.expr
        match node:
            case ast.BinOp(left=kept, op=ast.Add(), right=ast.Constant(value=float(small))) if 0 < small <= 1e-3:
                pass
            case ast.BinOp(left=ast.Constant(value=float(small)), op=ast.Add(), right=kept) if 0 < small <= 1e-3:
                pass
            case ast.Call(args=[kept, ast.Constant(value=float(small))]) if (
                called(node, "maximum") and 0 < small <= 1e-3
            ):
                pass
            case _:
                continue
        yield Change(code.replaced((node, f"({code.of(kept)})")), node.lineno, last_line(node))


def _made(
    table: dict[str, tuple[str, tuple[str, ...], tuple[Harm, ...]]], how: Callable[..., Iterator[Change]]
) -> list[Operator]:
    return [
        Operator(name, accepted, harm, partial(how, template)) for name, (template, accepted, harm) in table.items()
    ]


OPERATORS = [
    *_made(AROUND, around),
    *_made(AFTER, after),
    Operator("epsilon", NAN_RULES, (Harm.NONFINITE,), without_epsilon),
]
