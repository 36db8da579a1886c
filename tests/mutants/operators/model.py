"""Layers, losses and flags: a dropped result, a variable made in `call`, exchanged arguments, no `training=`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code, last_line
from .operator import Change, Harm, Operator

# Losses whose two arguments mean different things.
LOSSES = (
    "sparse_categorical_crossentropy",
    "categorical_crossentropy",
    "binary_crossentropy",
    "kl_divergence",
    "sparse_softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits",
    "sigmoid_cross_entropy_with_logits",
)
LOSS_CLASSES = ("SparseCategoricalCrossentropy", "CategoricalCrossentropy", "BinaryCrossentropy", "KLDivergence")


def result_dropped(code: Code) -> Iterator[Change]:
    """`h = layer(x)` as `h = x` with `layer(x)` on a line of its own, whose result nobody takes."""
    layers = names_of_layers(code)
    for node in ast.walk(code.tree):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=function, args=[ast.Name(id=given), *_]) as call
            ) if code.of(function) in layers and code.stands_alone(node):
                indent = code.indent(node)
                rows = [f"{indent}{code.of(call)}\n"] + ([f"{indent}{name} = {given}\n"] if name != given else [])
                yield Change(code.rewritten([node], {node.lineno: rows}), node.lineno, node.lineno + len(rows) - 1)


def names_of_layers(code: Code) -> set[str]:
    """Names and attributes that hold layers or models: their result is a tensor that depends on variables."""
    makers = {"keras.layers", "Sequential", "keras.Model", "Dense", *_own_makers(code)}
    found: set[str] = set()
    for node in ast.walk(code.tree):
        match node:
            case ast.Assign(targets=[target], value=value) if any(maker in code.of(value) for maker in makers):
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                found |= {code.of(each) for each in names}
            case ast.For(target=ast.Name(id=name), iter=source) if code.of(source).split("[")[0] in found:
                found.add(name)
    return found


def _own_makers(code: Code) -> Iterator[str]:
    """Classes that are layers, models or modules, and functions that build one."""
    for node in code.tree.body:
        match node:
            case ast.ClassDef(name=name, bases=[base, *_]) if code.of(base).endswith(("Layer", "Model", "Module")):
                yield f"{name}("
            case ast.FunctionDef(name=name) if "Sequential(" in code.of(node):
                yield f"{name}("


def variable_in_call(code: Code) -> Iterator[Change]:
    """A gain that is made at every call of a layer, and multiplied to what it returns."""
    for function in ast.walk(code.tree):
        if not isinstance(function, ast.FunctionDef) or function.name not in ("call", "__call__"):
            continue
        for node in ast.walk(function):
            match node:
                case ast.Return(value=ast.Call() | ast.BinOp() as value) if code.function_of(node) is function:
                    row = f'{code.indent(node)}gain = tf.Variable(1.0, name="gain")\n'
                    text = Code(code.replaced((value, f"gain * ({code.of(value)})"))).rewritten(
                        [], {node.lineno: [row]}
                    )
                    yield Change(text, node.lineno, last_line(node) + 1)


def arguments_exchanged(code: Code) -> Iterator[Change]:
    """The labels and the predictions of a loss, each in the other's place."""
    objects = {
        target.id
        for node in ast.walk(code.tree)
        if isinstance(node, ast.Assign) and any(name in code.of(node.value) for name in LOSS_CLASSES)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(code.tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[one, two, *_]) if (
                name in LOSSES or name in objects
            ):
                text = code.replaced((one, code.of(two)), (two, code.of(one)))
                yield Change(text, node.lineno, last_line(node))


def training_left_out(code: Code) -> Iterator[Change]:
    for node in ast.walk(code.tree):
        if isinstance(node, ast.Call):
            kept = [each for each in node.keywords if not _is_training(each)]
            if len(kept) < len(node.keywords):
                given = [code.of(each) for each in node.args] + [f"{each.arg}={code.of(each.value)}" for each in kept]
                text = code.replaced((node, f"{code.of(node.func)}({', '.join(given)})"))
                yield Change(text, node.lineno, last_line(node))


def _is_training(keyword: ast.keyword) -> bool:
    return keyword.arg == "training" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True


OPERATORS = [
    # Where it was the only layer, the target depends on no variable at all, and that is what is true of it.
    Operator("dropped_result", ("variable-not-in-loss", "constant-target"), (Harm.NONE, Harm.ZERO), result_dropped),
    Operator(
        "variable_in_call",
        ("variable-recreated", "variable-created-in-tf-function", "untracked-variable"),
        (Harm.REMADE, Harm.DIED),
        variable_in_call,
    ),
    Operator(
        "loss_arguments",
        ("loss-arguments-swapped",),
        (Harm.OTHER_VALUES, Harm.DIED, Harm.NONE, Harm.NONFINITE),
        arguments_exchanged,
    ),
    Operator("training", ("training-flag",), (Harm.UNMOVED,), training_left_out),
]
