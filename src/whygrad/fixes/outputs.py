"""The last layer and the loss: another activation, other units, a loss of another name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from whygrad.diagnostics import Edit, Fix, Word
from whygrad.fixes import rewriting as rw
from whygrad.source import SourceSpan
from whygrad.source.module import Module, last_name

_LOSSES: Final = {
    Word.BINARY_CROSS_ENTROPY: "BinaryCrossentropy",
    Word.CATEGORICAL_CROSS_ENTROPY: "CategoricalCrossentropy",
    Word.SPARSE_CROSS_ENTROPY: "SparseCategoricalCrossentropy",
    Word.SQUARED_ERROR: "MeanSquaredError",
}


def output_changed(
    layer: SourceSpan | None,
    loss: SourceSpan | None,
    *,
    activation: str | None = None,
    units: int | None = None,
    named: Word | None = None,
    option: tuple[str, str] | None = None,
) -> Iterator[Fix]:
    """A layer and its loss, changed together; an activation of `""` is none, an option is one of the loss."""
    parts = list[tuple[str, list[Edit]]]()
    if activation is not None:
        said = f"end the output with `{activation}`" if activation else "leave out the activation of the output"
        parts.append((said, list(_activated(layer, activation))))
    if units is not None:
        parts.append((f"give it {units} unit{'s' * (units != 1)}", list(_argued(layer, 0, "units", f"{units}"))))
    if named is not None:
        parts.append((f"use `{named}`", list(_named(loss, named))))
    if option is not None:
        parts.append((f"give the loss `{'='.join(option)}`", list(_argued(loss, None, *option))))
    if all(edits for _, edits in parts):
        yield Fix(title=", ".join(title for title, _ in parts), edits=tuple(e for _, edits in parts for e in edits))


@rw.on_call
def _activated(module: Module, call: ast.Call, activation: str) -> Iterator[Edit]:
    known = rw.argument(call, 0 if last_name(call.func) == "Activation" else 1, "activation")
    if known is not None:
        yield rw.replaced(module, known, f'"{activation}"' if activation else "None")
    elif activation:
        yield rw.with_argument(module, call, f'activation="{activation}"')
    elif last_name(call.func).islower() and len(call.args) == 1:  # a function that is applied to the output
        yield rw.replaced(module, call, rw.text_at(module, call.args[0]))


@rw.on_call
def _argued(module: Module, call: ast.Call, position: int | None, name: str, value: str) -> Iterator[Edit]:
    """An argument of a call, changed or added."""
    yield rw.with_option(module, call, name, value, position)


@rw.on_expression
def _named(module: Module, loss: ast.expr, word: Word) -> Iterator[Edit]:
    """The loss by another name: a text, or the class of a loss."""
    match loss:
        case ast.Constant(value=str()):
            yield rw.replaced(module, loss, f'"{word}"')
        case ast.Call(func=ast.Attribute(value=home, attr=name) as function) if name in _LOSSES.values():
            yield rw.replaced(module, function, f"{rw.text_at(module, home)}.{_LOSSES[word]}")


def rate_changed(made: SourceSpan | None, rate: float) -> Iterator[Fix]:
    """An optimizer with another learning rate."""
    edits = tuple(_argued(made, 0, "learning_rate", f"{rate:g}"))
    if edits:
        yield Fix(title=f"use a learning rate of {rate:g}", edits=edits)


def last_step_only(layers: Iterable[SourceSpan | None]) -> Iterator[Fix]:
    """The recurrent layer that is nearest to the output gives its last step alone."""
    for module, call in filter(None, map(rw.call_at, layers)):
        flag = rw.argument(call, None, "return_sequences")
        if flag is not None:
            yield Fix(title="keep only the last step", edits=(rw.replaced(module, flag, "False"),))
            return


def bent(layers: Iterable[SourceSpan | None]) -> Iterator[Fix]:
    """Layers that have no activation get one, all of them together."""
    edits = [list(_activated(each, "relu")) for each in layers]
    if edits and all(edits):
        yield Fix(title="put a `relu` after each layer except the last", edits=tuple(e for each in edits for e in each))


def layer_given(made: SourceSpan | None, position: int | None, name: str, value: str) -> Iterator[Fix]:
    """An argument of a layer, changed or added."""
    edits = tuple(_argued(made, position, name, value))
    if edits:
        yield Fix(title=f"give it `{name}={value}`", edits=edits)


@rw.on_expression
def text_changed(module: Module, at: ast.expr, old: str, new: str) -> Iterator[Fix]:
    """A text, such as the name of a metric, in an expression."""
    nodes = [n for n in ast.walk(at) if isinstance(n, ast.Constant) and n.value == old]
    if nodes:
        yield Fix(title=f"use `{new}`", edits=tuple(rw.replaced(module, each, f'"{new}"') for each in nodes))
