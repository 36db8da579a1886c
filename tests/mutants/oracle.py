"""The oracle: runs a program and looks at what TensorFlow itself gives, without whygrad.

It looks at every gradient that a tape returns, also inside graphs, where counters are added to the graph, and at every
variable that was made, at the end.
"""

from __future__ import annotations

import runpy
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from types import FrameType
from typing import Any

from .seen import FINE, NONE, NONFINITE, RAISED, WELL, ZERO, Seen, VariableEnd

SEED = 7  # programs that set none start from the same numbers all the same
KEPT_VALUES = 50  # of one variable
COUNTERS = 400  # gradients that are looked at in graphs


def look(script: str, eagerly: bool = False) -> Seen:
    """What becomes of a program, in this process: call it in a fork."""
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(SEED)
    if eagerly:
        tf.config.run_functions_eagerly(True)
    gradients, variables = Gradients(tf, script), Variables(tf)
    ended = WELL
    with tf.variable_creator_scope(variables.creator):
        gradients.listen()
        try:
            names = runpy.run_path(script, run_name="__main__")
        except SystemExit as stop:
            ended = WELL if not stop.code else "exit"
        except BaseException as error:
            ended, names = type(error).__name__, {"error": error}
    seen = Seen(ended, gradients.counts(), variables.ends())
    names.clear()
    return seen


class Gradients:
    """How often each requested gradient was None, zero, not finite or fine."""

    def __init__(self, tf: Any, script: str) -> None:
        self._tf, self._script = tf, script
        self._seen: dict[str, Counter[str]] = defaultdict(Counter)
        # Counters for graphs, made beforehand since a graph may refuse new variables: steps, zero ones, bad ones.
        self._free = [tf.Variable(tf.zeros(3, tf.int32), trainable=False) for _ in range(COUNTERS)]
        self._traced: dict[str, Any] = {}
        self._is_inside = False

    def listen(self) -> None:
        tape = self._tf.GradientTape
        for method in ("gradient", "jacobian", "batch_jacobian"):
            setattr(tape, method, self._listening(getattr(tape, method)))

    def _listening(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def asked(tape: Any, *args: Any, **options: Any) -> Any:
            if self._is_inside:  # a jacobian asks for gradients itself, in a loop that takes no counters
                return original(tape, *args, **options)
            self._is_inside = True
            try:
                given = original(tape, *args, **options)
            except Exception:
                self._seen[self._site()][RAISED] += 1
                raise
            finally:
                self._is_inside = False
            self._look(given)
            return given

        return asked

    def _look(self, given: Any) -> None:
        tf = self._tf
        flat = tf.nest.flatten(given, expand_composites=False)
        site = f"{self._site()}:{len(flat)}"
        symbolic: list[tuple[str, Any]] = []
        for at, each in enumerate(flat):
            value = each.values if isinstance(each, tf.IndexedSlices) else each
            if value is None:
                self._seen[f"{site}:{at}"][NONE] += 1
            elif value.dtype.is_floating and isinstance(value, tf.Tensor):
                symbolic.append((f"{site}:{at}", value))
        if symbolic and tf.executing_eagerly():
            for key, value in symbolic:
                zero, bad = _states(tf, value)
                self._seen[key][NONFINITE if bad else ZERO if zero else FINE] += 1
        elif symbolic:
            self._count_in_graph(symbolic)

    def _count_in_graph(self, symbolic: list[tuple[str, Any]]) -> None:
        for key, value in symbolic:
            if key not in self._traced and self._free:
                self._traced[key] = self._free.pop()
            if key in self._traced:
                self._traced[key].assign_add(self._tf.cast(self._tf.stack([True, *_states(self._tf, value)]), "int32"))

    def counts(self) -> dict[str, dict[str, int]]:
        for key, counter in self._traced.items():
            steps, zero, bad = counter.numpy().tolist()
            self._seen[key] += Counter({ZERO: zero, NONFINITE: bad, FINE: steps - zero - bad})
        return {key: dict(states) for key, states in self._seen.items()}

    def _site(self) -> str:
        """The line of the program that asked, or the function and line that AutoGraph made of it."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            if name == self._script or "__autograph_generated" in name:
                return f"{'' if name == self._script else frame.f_code.co_name}{frame.f_lineno}"
            frame = frame.f_back
        return ""


def _states(tf: Any, value: Any) -> tuple[Any, Any]:
    """Whether a gradient is zero everywhere, and whether it is not finite somewhere; never both."""
    bad = tf.reduce_any(~tf.math.is_finite(value))
    return tf.reduce_all(value == 0) & ~bad, bad


class Variables:
    """Every variable that is made, with the value it began with."""

    def __init__(self, tf: Any) -> None:
        self._tf = tf
        self._made: list[tuple[Any, Any]] = []

    def creator(self, make: Callable[..., Any], **options: Any) -> Any:
        variable = make(**options)
        self._made.append((variable, _value(variable) if self._tf.executing_eagerly() else None))
        return variable

    def ends(self) -> tuple[VariableEnd, ...]:
        return tuple(_end(variable, began) for variable, began in self._made)


def _value(variable: Any) -> Any:
    try:
        return variable.numpy()
    except Exception:  # not to be read here: made in a graph, or never given a value
        return None


def _end(variable: Any, began: Any) -> VariableEnd:
    import numpy as np

    ended = _value(variable)
    shape = tuple(int(each) for each in variable.shape.as_list() or ()) if variable.shape.is_fully_defined() else ()
    moved = began is None or ended is None or not np.array_equal(began, ended)
    values = () if ended is None or ended.dtype.kind not in "fiu" else ended.ravel()[:KEPT_VALUES].tolist()
    return VariableEnd(shape, bool(variable.trainable), moved, tuple(map(float, values)))
