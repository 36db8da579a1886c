"""`Accumulator`: a wrong call says what is wrong with the user's own thing, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from whygrad.errors import AccumulationError, EmptyWindowError, MicrobatchWeightError, VariableDriftError

pytestmark = pytest.mark.tensorflow

DRIFT = (
    "help: add the same variables for every micro-batch of a window (None as gradient counts as zero), "
    "or reset() before changing them"
)
WEIGHT = "help: the weight is how many examples or tokens the loss was averaged over"


def half_full(tf: Any, variables: list[Any]) -> Any:
    """An accumulator with two micro-batches in its window."""
    from whygrad.training.accumulation.accumulator import Accumulator

    accumulator = Accumulator(steps=4)
    for _ in range(2):
        accumulator.add([tf.ones_like(v) for v in variables], variables, weight=8)
    return accumulator


def refused(accumulator: Any, call: Callable[[], Any]) -> Exception:
    """What the call raised, after a look that it left every variable of the window alone."""
    before = [np.array(variable.numpy()) for variable in accumulator.window.variables]
    with pytest.raises(AccumulationError) as caught:
        call()
    after = [np.array(variable.numpy()) for variable in accumulator.window.variables]
    assert len(before) == len(after)
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    return caught.value


def test_too_few_gradients(tf: Any) -> None:
    first, second = tf.Variable([1.0, 2.0]), tf.Variable([3.0])
    accumulator = half_full(tf, [first, second])

    error = refused(accumulator, lambda: accumulator.add([tf.ones([2])], [first, second], weight=8))

    assert str(error) == (
        "got 1 gradients for 2 variables\n"
        "help: pass the list of variables that the gradients were taken with respect to"
    )


def test_no_variables_as_of_a_model_that_is_not_built(tf: Any) -> None:
    accumulator = half_full(tf, [tf.Variable([1.0])])

    error = refused(accumulator, lambda: accumulator.add([], [], weight=8))

    assert str(error) == "got no variables\nhelp: build the model first, by calling it on a batch"


def test_a_variable_given_twice(tf: Any) -> None:
    scale = tf.Variable([1.0], name="scale")
    accumulator = half_full(tf, [scale])

    error = refused(accumulator, lambda: accumulator.add([tf.ones([1])] * 2, [scale, scale], weight=8))

    line = test_a_variable_given_twice.__code__.co_firstlineno + 1
    assert str(error) == (
        f"`scale` (`scale` in test_accumulator_wrong_calls.py:{line}) is in the list of variables twice\n"
        "help: pass each variable once; tape.gradient already sums its uses"
    )


def test_something_that_is_no_variable(tf: Any) -> None:
    accumulator = half_full(tf, [tf.Variable([1.0])])

    error = refused(accumulator, lambda: accumulator.add([tf.ones([1])], ["kernel"], weight=8))

    assert str(error) == (
        "expected a variable, got 'kernel'\n"
        "help: pass variables, such as `model.trainable_variables`; gradients come first"
    )


def test_gradients_in_another_order_than_the_variables(tf: Any) -> None:
    narrow, wide = tf.Variable([1.0], name="narrow"), tf.Variable([1.0, 2.0], name="wide")
    accumulator = half_full(tf, [narrow, wide])

    error = refused(accumulator, lambda: accumulator.add([tf.ones([2]), tf.ones([1])], [narrow, wide], weight=8))

    line = test_gradients_in_another_order_than_the_variables.__code__.co_firstlineno + 1
    assert str(error) == (
        f"the gradient of `narrow` (`narrow` in test_accumulator_wrong_calls.py:{line}) has shape (2,), "
        "the variable (1,)\n"
        "help: gradients and variables must come in the same order"
    )


def test_nothing_but_none(tf: Any) -> None:
    v = tf.Variable([1.0], name="v")
    accumulator = half_full(tf, [v])

    error = refused(accumulator, lambda: accumulator.add([None], [v], weight=8))

    assert str(error) == (
        "every gradient is None (`v`)\n"
        "help: the loss does not depend on these variables; `wg.explain(step)` says where they were cut off"
    )


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        (0, "must be positive and finite, got 0"),
        (-3.0, "must be positive and finite, got -3"),
        (float("nan"), "must be positive and finite, got nan"),
        (float("inf"), "must be positive and finite, got inf"),
        ("eight", "must be one number, got 'eight'"),
        (np.ones(3), "must be one number, got shape (3,)"),
    ],
)
def test_a_weight_that_cannot_be_one(tf: Any, weight: Any, text: str) -> None:
    v = tf.Variable([1.0])
    accumulator = half_full(tf, [v])

    error = refused(accumulator, lambda: accumulator.add([tf.ones([1])], [v], weight=weight))

    assert isinstance(error, MicrobatchWeightError)
    assert str(error) == f"the weight of a micro-batch {text}\n{WEIGHT}"


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan")])
def test_a_weight_that_only_the_graph_knows(tf: Any, weight: float) -> None:
    v = tf.Variable([1.0])
    accumulator = half_full(tf, [v])
    before = [variable.numpy().copy() for variable in accumulator.window.variables]

    @tf.function
    def step(n: Any) -> None:
        accumulator.add([tf.ones([1])], [v], weight=n)

    with pytest.raises(tf.errors.InvalidArgumentError, match="the weight of a micro-batch must be positive and finite"):
        step(tf.constant(weight))

    assert all(np.array_equal(a, b.numpy()) for a, b in zip(before, accumulator.window.variables, strict=True))


def test_a_weight_where_the_others_had_none(tf: Any) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    v = tf.Variable([1.0])
    accumulator = Accumulator()
    accumulator.add([tf.ones([1])], [v])

    error = refused(accumulator, lambda: accumulator.add([tf.ones([1])], [v], weight=8))

    assert str(error) == (
        "the micro-batches before had no weight, this one has one\n"
        "help: pass weight= for every micro-batch, or for none"
    )


def test_a_variable_that_newly_appears(tf: Any) -> None:
    old = tf.Variable([1.0], name="old")
    accumulator = half_full(tf, [old])
    new = tf.Variable([1.0], name="new")

    error = refused(accumulator, lambda: accumulator.add([tf.ones([1])] * 2, [old, new], weight=8))

    line = test_a_variable_that_newly_appears.__code__.co_firstlineno + 3
    assert isinstance(error, VariableDriftError)
    assert str(error) == (
        f"`new` (`new` in test_accumulator_wrong_calls.py:{line}) is new: "
        f"it was not in the first micro-batch of this window\n{DRIFT}"
    )


def test_a_variable_that_is_gone(tf: Any) -> None:
    kept, gone = tf.Variable([1.0], name="kept"), tf.Variable([1.0], name="gone")
    accumulator = half_full(tf, [kept, gone])

    error = refused(accumulator, lambda: accumulator.add([tf.ones([1])], [kept], weight=8))

    assert isinstance(error, VariableDriftError)
    assert "`gone`" in str(error)
    assert "is gone: it was in the first micro-batch of this window" in str(error)


def test_a_variable_created_anew(tf: Any) -> None:
    weight = tf.Variable([1.0], name="weight")
    accumulator = half_full(tf, [weight])
    weight = tf.Variable([1.0], name="weight")

    error = refused(accumulator, lambda: accumulator.add([tf.ones([1])], [weight], weight=8))

    line = test_a_variable_created_anew.__code__.co_firstlineno + 3
    assert str(error) == (
        f"`weight` (`weight` in test_accumulator_wrong_calls.py:{line}) was recreated inside a window: "
        f"the micro-batches before had another\n{DRIFT}"
    )


def test_a_layer_rebuilt_with_another_shape_is_named_with_the_line_that_made_it(tf: Any, keras: Any) -> None:
    class Model(keras.Model):
        def __init__(self, units: int) -> None:
            super().__init__(name="model")
            self.head = keras.layers.Dense(units, name="head", use_bias=False)

        def call(self, x: Any) -> Any:
            return self.head(x)

    models = [Model(2), Model(3)]
    for model in models:
        model(tf.ones([1, 1]))
    accumulator = half_full(tf, models[0].trainable_variables)
    new = models[1].trainable_variables

    error = refused(accumulator, lambda: accumulator.add([tf.ones([1, 3])], new, weight=8))

    line = Model.__init__.__code__.co_firstlineno + 2
    assert str(error) == (
        f"`model/head/kernel` (`self.head` in test_accumulator_wrong_calls.py:{line}) was recreated "
        f"inside a window, with shape (1, 3) instead of (1, 2): the micro-batches before had another\n{DRIFT}"
    )


def test_a_variable_that_changed_its_shape(tf: Any) -> None:
    v = tf.Variable([1.0], shape=tf.TensorShape([None]), name="v")
    accumulator = half_full(tf, [v])
    v.assign([1.0, 2.0])

    error = refused(accumulator, lambda: accumulator.add([tf.ones([2])], [v], weight=8))

    line = test_a_variable_that_changed_its_shape.__code__.co_firstlineno + 1
    assert isinstance(error, VariableDriftError)
    assert str(error) == (
        f"`v` (`v` in test_accumulator_wrong_calls.py:{line}) changed its shape "
        f"from (1,) to (2,) inside a window\n{DRIFT}"
    )


def test_between_windows_the_variables_may_change(tf: Any, keras: Any) -> None:
    old, new = tf.Variable([1.0]), tf.Variable([5.0])
    accumulator = half_full(tf, [old])
    accumulator.apply(keras.optimizers.SGD(1.0))

    accumulator.add([tf.ones([1])], [new], weight=8)
    accumulator.apply(keras.optimizers.SGD(1.0))

    assert (old.numpy()[0], new.numpy()[0]) == (0.0, 4.0)


def test_apply_before_any_micro_batch(tf: Any, keras: Any) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    accumulator = Accumulator(steps=2)
    text = (
        "there is nothing to apply: no micro-batch was added since the last update\n"
        "help: call add(gradients, variables, weight=...) for each micro-batch, and apply when `ready`"
    )

    error = refused(accumulator, lambda: accumulator.apply(keras.optimizers.SGD()))

    assert isinstance(error, EmptyWindowError)
    assert str(error) == text


def test_apply_twice_leaves_the_weights_after_the_first(tf: Any, keras: Any) -> None:
    v = tf.Variable([1.0])
    accumulator = half_full(tf, [v])
    optimizer = keras.optimizers.SGD(0.5, momentum=0.9)
    accumulator.apply(optimizer)

    with pytest.raises(EmptyWindowError, match="nothing to apply"):
        accumulator.apply(optimizer)

    assert v.numpy()[0] == 0.5
    assert int(optimizer.iterations.numpy()) == 1


def test_apply_on_a_window_that_turns_out_empty_in_a_graph(tf: Any, keras: Any) -> None:
    v = tf.Variable([1.0])
    accumulator = half_full(tf, [v])
    optimizer = keras.optimizers.SGD(0.5, momentum=0.9)
    apply = tf.function(lambda: accumulator.apply(optimizer))
    apply()

    with pytest.raises(tf.errors.InvalidArgumentError, match="nothing to apply"):
        apply()

    assert v.numpy()[0] == 0.5
    assert int(optimizer.iterations.numpy()) == 1


@pytest.mark.parametrize("steps", [0, -1, 2.5, True, "4"])
def test_steps_that_make_no_window(tf: Any, steps: Any) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    with pytest.raises(AccumulationError) as caught:
        Accumulator(steps=steps)

    assert str(caught.value) == (
        f"`steps` must be a whole number of at least 1, got {steps!r}\n"
        "help: `steps` is how many micro-batches make one update"
    )


def test_a_reduction_there_is_not(tf: Any) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    with pytest.raises(AccumulationError) as caught:
        Accumulator(reduction="median")

    assert str(caught.value) == "`reduction` cannot be 'median'\nhelp: `reduction` must be one of 'mean', 'sum'"


def test_an_optimizer_built_on_other_variables(tf: Any, keras: Any) -> None:
    other, own = tf.Variable([1.0]), tf.Variable([1.0], name="own")
    optimizer = keras.optimizers.Adam()
    optimizer.build([other])
    accumulator = half_full(tf, [own])

    error = refused(accumulator, lambda: accumulator.apply(optimizer))

    line = test_an_optimizer_built_on_other_variables.__code__.co_firstlineno + 1
    assert str(error) == (
        "the optimizer was built on other variables: it does not know `own` "
        f"(`own` in test_accumulator_wrong_calls.py:{line})\n"
        "help: use a new optimizer for a new set of variables, or build it with all of them"
    )
    assert own.numpy()[0] == 1.0
    assert int(optimizer.iterations.numpy()) == 0


def test_an_error_inside_tf_function_keeps_its_type_and_text(tf: Any) -> None:
    v = tf.Variable([1.0])
    accumulator = half_full(tf, [v])

    @tf.function
    def step() -> None:
        accumulator.add([tf.ones([1])] * 2, [v], weight=8)

    assert "got 2 gradients for 1 variables" in str(refused(accumulator, step))


def test_none_counts_as_zero_and_is_noted(tf: Any, keras: Any) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    always, sometimes = tf.Variable([0.0], name="always"), tf.Variable([0.0], name="sometimes")
    accumulator = Accumulator()
    accumulator.add([tf.ones([1]), tf.ones([1])], [always, sometimes], weight=1)
    accumulator.add([tf.ones([1]), None], [always, sometimes], weight=3)

    accumulator.apply(keras.optimizers.SGD(1.0))

    assert (always.numpy()[0], sometimes.numpy()[0]) == (-1.0, -0.25)
    assert accumulator.notes == ("`sometimes` had no gradient in 1 of 2 micro-batches, counted as zero",)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.filterwarnings("ignore:Gradients do not exist")
def test_a_variable_that_never_had_a_gradient_is_left_alone_as_by_the_big_batch(
    tf: Any, keras: Any, compiled: bool
) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    used, unused = tf.Variable([1.0]), tf.Variable([1.0])
    accumulator = Accumulator()
    optimizer = keras.optimizers.SGD(0.1, weight_decay=0.5)
    optimizer.build([used, unused])

    def step() -> None:
        accumulator.add([tf.ones([1]), None], [used, unused], weight=1)
        accumulator.apply(optimizer)

    (tf.function(step) if compiled else step)()

    assert unused.numpy()[0] == 1.0  # weight decay would have shrunk it
    assert used.numpy()[0] == pytest.approx(1.0 - 0.05 - 0.1)


def test_variables_are_told_apart_by_identity_not_by_place(tf: Any, keras: Any) -> None:
    a, b = tf.Variable([0.0], name="same"), tf.Variable([0.0], name="same")
    accumulator = half_full(tf, [a, b])
    accumulator.add([tf.constant([7.0]), tf.constant([1.0])], [b, a], weight=16)

    accumulator.apply(keras.optimizers.SGD(1.0))

    assert (a.numpy()[0], b.numpy()[0]) == (-1.0, -4.0)
