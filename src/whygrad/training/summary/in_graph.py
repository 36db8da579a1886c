"""`print_summary`: the table of a summary from inside a graph, every n steps."""

from __future__ import annotations

import sys
from typing import Any, Final

import tensorflow as tf

from whygrad.arguments import check_whole, given
from whygrad.backends.tensorflow.measure.gradient_part import Tensor
from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.backends.tensorflow.measure.hidden_variable import hidden_variable, keep_with_graph
from whygrad.errors import UsageError
from whygrad.source.position import user_frame
from whygrad.training.summary.summarize import By, summarize
from whygrad.training.summary.table import Summary
from whygrad.training.summary.view import HEADINGS, TOTAL

_WIDTH: Final = 12
_calls: dict[tuple[str, int], int] = {}


@unconverted
def print_summary(
    gradients: Any,
    variables: Any = None,
    by: By = "variable",
    *,
    learning_rate: Any = None,
    every: int = 1,
    step: Any = None,
    stream: Any = None,
) -> None:
    """Print a summary of gradients, also from inside `tf.function`, where it is printed each time the graph runs.

    Args:
        gradients: as for `summarize`, or a summary.
        learning_rate: a number or an optimizer, as for `summarize`.
        every: print on the first of so many steps only.
        step: the number of the step; without it, calls are counted at this place of the graph.
        stream: `sys.stdout` (the default) or `sys.stderr`.

    A function that is compiled with `jit_compile=True` cannot print.
    """
    check_whole("every", every, help="`every=100` prints one step in a hundred")
    stream = sys.stdout if stream is None else stream
    if not hasattr(stream, "write"):
        raise UsageError(f"`stream` must be a stream, got {given(stream)}", help="pass sys.stdout or sys.stderr")
    if step is not None and not tf.is_tensor(step) and not hasattr(step, "assign"):
        check_whole("step", step, least=0, help="`step` is the number of the step, such as `optimizer.iterations`")
    if tf.executing_eagerly() and every == 1:
        print(_summary(gradients, variables, by, learning_rate), file=stream)
        return
    turn = _turn(step) % every == 0

    def show() -> Tensor:
        summary = _summary(gradients, variables, by, learning_rate)
        if tf.executing_eagerly():
            print(summary, file=stream)
        else:
            tf.print(text_of(summary), output_stream=stream)
        return tf.constant(True)

    tf.cond(turn, show, lambda: tf.constant(False))


def _summary(gradients: Any, variables: Any, by: By, learning_rate: Any) -> Summary:
    if isinstance(gradients, Summary):
        return gradients
    return summarize(gradients, variables, by, learning_rate=learning_rate)


def _turn(step: Any) -> Tensor:
    """The number of this step, from 0."""
    if step is not None:
        return tf.cast(tf.convert_to_tensor(step), tf.int64)
    if tf.executing_eagerly():
        place = _caller()
        _calls[place] = _calls.get(place, -1) + 1
        return tf.constant(_calls[place], tf.int64)
    counter = hidden_variable(0, dtype=tf.int64, name="print_summary")
    keep_with_graph(counter)
    return counter.assign_add(1) - 1


def _caller() -> tuple[str, int]:
    """The line of the user's that called `print_summary`."""
    frame = user_frame(sys._getframe(1))
    return ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def text_of(summary: Summary) -> Tensor:
    """The table as one string tensor, columns aligned, made by the graph itself."""
    keys = [key for key in HEADINGS if key in summary.columns]
    left = max(len(name) for name in (*summary.names, summary.label, TOTAL))
    head = summary.label.ljust(left) + "".join(HEADINGS[key].rjust(_WIDTH + 2) for key in keys)
    names = tf.constant([name.ljust(left) for name in (*summary.names, TOTAL)])
    cells = [_cells(summary, key) for key in keys]
    return tf.strings.join([head, tf.strings.reduce_join(tf.strings.join([names, *cells]), separator="\n")], "\n")


def _cells(summary: Summary, key: str) -> Tensor:
    values = summary.columns[key]
    if values.dtype.is_complex:
        values = tf.abs(values)
    text = tf.strings.as_string(values, precision=4, shortest=True, width=_WIDTH)
    lost = [n > 0 and n == m for n, m in zip(summary.variables, summary.missing, strict=True)]
    gone = ("missing" if key == "norm" else "-").rjust(_WIDTH)
    return tf.strings.join(["  ", tf.where([*lost, False], gone, text)])
