"""Rows of a variable that the user's own optimizer puts in place of others, eagerly and in compiled functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from whygrad.graph.event import VariableStep
from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow
WAYS = ["eager", "function", "loop", "xla"]
REPEATED = [1, 2, 1, 3, 3, 1]
ONCE = [4, 2, 1, 3, 0, 5]
RATE = 0.1
Update = Callable[[Any, Any, Any], None]


def overwrite(tf: Any, table: Any, gradient: Any) -> None:
    rows = tf.gather(table, gradient.indices)
    table.scatter_update(tf.IndexedSlices(rows - RATE * gradient.values, gradient.indices))


def overwrite_by_place(tf: Any, table: Any, gradient: Any) -> None:
    rows = tf.gather(table, gradient.indices)
    table.scatter_nd_update(gradient.indices[:, None], rows - RATE * gradient.values)


def add(tf: Any, table: Any, gradient: Any) -> None:
    table.scatter_sub(tf.IndexedSlices(RATE * gradient.values, gradient.indices))


def summed(tf: Any, table: Any, gradient: Any) -> None:
    rows, places = tf.unique(gradient.indices)
    total = tf.math.unsorted_segment_sum(gradient.values, places, tf.size(rows))
    table.scatter_update(tf.IndexedSlices(tf.gather(table, rows) - RATE * total, rows))


def summed_for_each(tf: Any, table: Any, gradient: Any) -> None:
    rows, places = tf.unique(gradient.indices)
    total = tf.gather(tf.math.unsorted_segment_sum(gradient.values, places, tf.size(rows)), places)
    table.scatter_update(tf.IndexedSlices(tf.gather(table, gradient.indices) - RATE * total, gradient.indices))


def data_only(tf: Any, table: Any, gradient: Any) -> None:
    table.scatter_update(tf.IndexedSlices(tf.random.uniform([6, 2]), gradient.indices))
    add(tf, table, gradient)


def trained(tf: Any, update: Update, how: str, words: list[int]) -> Any:
    tf.random.set_seed(0)
    table = tf.Variable(np.arange(12, dtype=np.float32).reshape(6, 2), name="table")
    target = tf.constant(np.arange(12, dtype=np.float32).reshape(6, 2) ** 2)

    def step(words: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.gather(table, words) - target) ** 2)
        update(tf, table, tape.gradient(loss, table))
        return loss

    def loop(words: Any) -> Any:
        for _ in tf.range(3):
            step(words)
        return table.read_value()

    run = step if how == "eager" else tf.function(loop if how == "loop" else step, jit_compile=how == "xla")
    for _ in range(3):
        run(tf.constant(words))
    return table.numpy()


def repeated(tf: Any, update: Update, how: str, words: list[int]) -> tuple[list[VariableStep], Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with watch() as run:
            values = trained(tf, update, how, words)
            recording = run.recording()
    return [step for step in recording.events_of(VariableStep) if step.repeated], values


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("update", [overwrite, overwrite_by_place])
def test_rows_that_are_overwritten_by_one_of_several_gradients_are_counted(tf: Any, update: Update, how: str) -> None:
    (found,), values = repeated(tf, update, how, REPEATED)

    assert (found.rows, found.repeated, found.compiled) == (3, 2, how != "eager")
    assert found.where is not None
    assert np.array_equal(values, trained(tf, update, how, REPEATED))


@pytest.mark.parametrize("how", WAYS)
def test_training_is_left_alone_where_a_step_is_computed_again(tf: Any, how: str) -> None:
    _, values = repeated(tf, overwrite, how, REPEATED)

    assert np.array_equal(values, trained(tf, overwrite, how, REPEATED))


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize(
    ("update", "words"),
    [
        (overwrite, ONCE),
        (overwrite_by_place, ONCE),
        (add, REPEATED),
        (summed, REPEATED),
        (summed_for_each, REPEATED),
        (data_only, REPEATED),
    ],
)
def test_rows_that_get_all_of_their_gradients_are_not(tf: Any, update: Update, words: list[int], how: str) -> None:
    assert repeated(tf, update, how, words)[0] == []
