"""What a micro-batch counts for in `fit`: what Keras divided its loss by."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import versions
from keras_pair import Kit, examples, train, weights
from training.accumulation.big_batch import distance
from whygrad.errors import AccumulationError, AccumulationWarning, MicrobatchWeightError

pytestmark = pytest.mark.tensorflow


def accumulate(optimizer: Any, steps: int = 3, **options: Any) -> Any:
    from whygrad.training.accumulation.accumulate import accumulate

    return accumulate(optimizer, steps, **options)


def tagger(kit: Kit, *, masked: bool) -> Any:
    """One prediction for each time step; token 0 is padding."""
    table = kit.keras.layers.Embedding(
        20, 4, mask_zero=masked, dtype="float64", embeddings_initializer=kit.keras.initializers.RandomNormal(seed=1)
    )
    return kit.model(table, kit.dense(2), inputs=(6,))


def sentences(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sentences whose lengths differ so much that a mean of means is far from the mean."""
    rng = np.random.default_rng(3)
    x = rng.integers(1, 20, size=(count, 6))
    for i, row in enumerate(x):
        row[1 + (5 * i) // count :] = 0
    return x, rng.normal(size=(count, 6, 2))


@pytest.mark.parametrize("masked", [True, False])
def test_masked_time_steps_count_for_nothing(kit: Kit, masked: bool) -> None:
    x, y = sentences(20)
    start = weights(tagger(kit, masked=masked))
    big = train(tagger(kit, masked=masked), kit.keras.optimizers.SGD(0.5), x, y, batch_size=12)

    small = train(tagger(kit, masked=masked), accumulate(kit.keras.optimizers.SGD(0.5)), x, y, batch_size=4)

    assert distance(weights(small), weights(big), start) <= 1e-6


def test_by_examples_a_mask_would_not_be_respected(kit: Kit) -> None:
    """The test above can fail: examples are the wrong weight there."""
    x, y = sentences(20)
    start = weights(tagger(kit, masked=True))
    big = train(tagger(kit, masked=True), kit.keras.optimizers.SGD(0.5), x, y, batch_size=12)

    optimizer = accumulate(kit.keras.optimizers.SGD(0.5), weight="examples")
    small = train(tagger(kit, masked=True), optimizer, x, y, batch_size=4)

    assert distance(weights(small), weights(big), start) > 0.01


def test_masks_and_sample_weights_together(kit: Kit) -> None:
    x, y = sentences(20)
    sample_weight = np.random.default_rng(1).uniform(0.1, 3.0, size=(20, 6))
    start = weights(tagger(kit, masked=True))
    options = {"sample_weight": sample_weight}
    big = train(tagger(kit, masked=True), kit.keras.optimizers.SGD(0.5), x, y, batch_size=12, **options)

    optimizer = accumulate(kit.keras.optimizers.SGD(0.5))
    small = train(tagger(kit, masked=True), optimizer, x, y, batch_size=4, **options)

    assert distance(weights(small), weights(big), start) <= 1e-6


def test_class_weights(kit: Kit) -> None:
    x, _ = examples(40)
    y = np.arange(40) % 3
    loss = {"loss": "sparse_categorical_crossentropy"}

    def model() -> Any:
        return kit.model(kit.dense(3, activation="softmax"))

    options = {"class_weight": {0: 0.1, 1: 2.0, 2: 5.0}, "compiled": loss}
    start = weights(model())
    big = train(model(), kit.keras.optimizers.SGD(0.5), x, y, batch_size=24, **options)
    small = train(model(), accumulate(kit.keras.optimizers.SGD(0.5)), x, y, batch_size=8, **options)

    assert distance(weights(small), weights(big), start) <= 1e-6


@versions.without_oldest_keras
def test_a_loss_divided_by_its_sample_weights(keras: Any) -> None:
    kit = Kit(keras, old=False)
    x, y = examples(40)
    sample_weight = np.linspace(0.01, 5.0, 40)

    def options() -> dict[str, Any]:
        loss = keras.losses.MeanSquaredError(reduction="mean_with_sample_weight")
        return {"sample_weight": sample_weight, "compiled": {"loss": loss}}

    start = weights(kit.model())
    big = train(kit.model(), keras.optimizers.SGD(0.5), x, y, batch_size=24, **options())
    small = train(kit.model(), accumulate(keras.optimizers.SGD(0.5)), x, y, batch_size=8, **options())

    assert distance(weights(small), weights(big), start) <= 1e-6


def test_a_loss_that_is_a_sum_is_summed(kit: Kit) -> None:
    x, y = examples(40)
    loss = {"loss": kit.keras.losses.MeanSquaredError(reduction="sum")}
    start = weights(kit.model())
    big = train(kit.model(), kit.keras.optimizers.SGD(0.01), x, y, batch_size=24, compiled=loss)

    small = train(kit.model(), accumulate(kit.keras.optimizers.SGD(0.01)), x, y, batch_size=8, compiled=loss)

    assert distance(weights(small), weights(big), start) <= 1e-6


def test_a_regularizer_beside_a_mean_counts_once(kit: Kit) -> None:
    def model() -> Any:
        return kit.model(kit.dense(2, kernel_regularizer=kit.keras.regularizers.L2(0.1)))

    x, y = examples(40)
    start = weights(model())
    big = train(model(), kit.keras.optimizers.SGD(0.5), x, y, batch_size=24)
    small = train(model(), accumulate(kit.keras.optimizers.SGD(0.5)), x, y, batch_size=8)

    assert distance(weights(small), weights(big), start) <= 1e-6


def test_a_regularizer_beside_a_sum_is_told_of(kit: Kit) -> None:
    model = kit.model(kit.dense(2, kernel_regularizer=kit.keras.regularizers.L2(0.1)))
    x, y = examples(40)
    loss = {"loss": kit.keras.losses.MeanSquaredError(reduction="sum")}

    with pytest.warns(AccumulationWarning) as caught:
        train(model, accumulate(kit.keras.optimizers.SGD(0.01)), x, y, batch_size=8, compiled=loss)

    assert str(caught[0].message) == (
        "the loss is a sum, and what add_loss or a regularizer adds counts once for each micro-batch: "
        "the update will differ from the big batch's"
    )


def two_outputs(kit: Kit) -> Any:
    """One output for each time step, masked, and one for the sentence."""
    layers = kit.keras.layers
    kit.keras.utils.set_random_seed(7)
    inputs = kit.keras.Input((6,))
    table = layers.Embedding(20, 4, mask_zero=True, dtype="float64")(inputs)
    steps = kit.dense(2, name="steps")(table)
    pooled = layers.GlobalAveragePooling1D(dtype="float64")(table)
    return kit.keras.Model(inputs, [steps, kit.dense(3, name="whole")(pooled)])


def test_outputs_averaged_over_different_numbers_are_told_of(kit: Kit) -> None:
    x, y = sentences(20)
    targets = [y, np.zeros((20, 3))]
    model = two_outputs(kit)
    model.compile(accumulate(kit.keras.optimizers.SGD(0.1)), loss=["mse", "mse"], jit_compile=False)

    with pytest.warns(AccumulationWarning, match="averaged over different numbers .* the first is used for all"):
        model.fit(x, targets, batch_size=4, verbose=0)


def test_several_outputs_averaged_over_the_same_number_are_exact(kit: Kit) -> None:
    def model() -> Any:
        kit.keras.utils.set_random_seed(7)
        inputs = kit.keras.Input((3,))
        return kit.keras.Model(inputs, {"a": kit.dense(2, name="a")(inputs), "b": kit.dense(1, name="b")(inputs)})

    x, y = examples(40)
    targets = {"a": y, "b": y[:, :1]}
    compiled = {"loss": {"a": "mse", "b": "mae"}, "loss_weights": {"a": 1.0, "b": 3.0}}
    start = weights(model())
    big = train(model(), kit.keras.optimizers.SGD(0.1), x, targets, batch_size=24, compiled=compiled)
    small = train(model(), accumulate(kit.keras.optimizers.SGD(0.1)), x, targets, batch_size=8, compiled=compiled)

    assert distance(weights(small), weights(big), start) <= 1e-6


def test_a_function_can_say_what_a_micro_batch_counts_for(tf: Any, kit: Kit) -> None:
    x, y = sentences(20)

    def tokens(x: Any, y: Any, sample_weight: Any) -> Any:
        return tf.math.count_nonzero(x)

    start = weights(tagger(kit, masked=True))
    big = train(tagger(kit, masked=True), kit.keras.optimizers.SGD(0.5), x, y, batch_size=12)
    optimizer = accumulate(kit.keras.optimizers.SGD(0.5), weight=tokens)
    small = train(tagger(kit, masked=True), optimizer, x, y, batch_size=4)

    assert distance(weights(small), weights(big), start) <= 1e-6


def test_sentences_of_a_batch_length_each_weigh_by_their_time_steps(tf: Any, kit: Kit) -> None:
    """Without a mask, Keras divides by examples times steps; micro-batches of unlike length weigh accordingly."""
    model = kit.model(kit.dense(2), inputs=(None, 3))
    rng = np.random.default_rng(0)
    batches = [(rng.normal(size=(4, n, 3)), rng.normal(size=(4, n, 2))) for n in (2, 7)]
    model.compile(accumulate(kit.keras.optimizers.SGD(1.0), 2), loss="mse", jit_compile=False)
    start = weights(model)
    with tf.GradientTape() as tape:
        errors = [tf.reshape(model(x) - y, [-1]) for x, y in batches]
        loss = tf.reduce_mean(tf.concat(errors, 0) ** 2)
    gradients = [g.numpy() for g in tape.gradient(loss, model.trainable_variables)]

    for x, y in batches:
        model.train_on_batch(x, y)

    assert distance(weights(model), [w - g for w, g in zip(start, gradients, strict=True)], start) <= 1e-6


def test_outside_of_a_train_step_the_weight_must_be_given(tf: Any, kit: Kit) -> None:
    optimizer = accumulate(kit.keras.optimizers.SGD(1.0), 2)
    v = tf.Variable([0.0])

    with pytest.raises(MicrobatchWeightError) as caught:
        optimizer.apply_gradients([(tf.ones([1]), v)])

    assert str(caught.value) == (
        "the size of this micro-batch is not known: the optimizer was not called from a Keras train_step\n"
        "help: pass weight= to apply_gradients, or weight='equal' to wg.accumulate if all have one size"
    )
    assert optimizer.microbatches == 0


@pytest.mark.parametrize("compiled", [False, True])
def test_in_a_loop_of_ones_own_the_weight_is_given(tf: Any, kit: Kit, compiled: bool) -> None:
    optimizer = accumulate(kit.keras.optimizers.SGD(1.0), 2)
    v = tf.Variable([0.0])

    def step(gradient: Any, weight: Any) -> None:
        optimizer.apply_gradients([(gradient, v)], weight=weight)

    step = tf.function(step) if compiled else step
    step(tf.constant([1.0]), tf.constant(3.0))
    assert v.numpy()[0] == 0.0
    step(tf.constant([0.0]), tf.constant(7.0))

    assert v.numpy()[0] == pytest.approx(-0.3)
    assert int(optimizer.iterations.numpy()) == 1


def test_equal_micro_batches_need_no_weight(tf: Any, kit: Kit) -> None:
    optimizer = accumulate(kit.keras.optimizers.SGD(1.0), 2, weight="equal")
    v = tf.Variable([0.0])
    for gradient in ([1.0], [2.0]):
        optimizer.apply_gradients([(tf.constant(gradient), v)])

    assert v.numpy()[0] == -1.5


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"partial": "keep"}, "`partial` cannot be 'keep'\nhelp: `partial` must be one of 'apply', 'carry', 'drop'"),
        (
            {"weight": "tokens"},
            "`weight` cannot be 'tokens'\nhelp: `weight` must be one of 'auto', 'examples', 'equal'",
        ),
        ({"reduction": "max"}, "`reduction` cannot be 'max'\nhelp: `reduction` must be one of 'auto', 'mean', 'sum'"),
        ({"nonfinite": "no"}, "`nonfinite` cannot be 'no'\nhelp: `nonfinite` must be one of 'window', 'microbatch'"),
        (
            {"buffer_dtype": "int8"},
            "`buffer_dtype` cannot be 'int8'\nhelp: `buffer_dtype` must be one of None, 'float32', 'float64'",
        ),
        (
            {"steps": 0},
            "`steps` must be a whole number of at least 1, got 0\n"
            "help: `steps` is how many micro-batches make one update",
        ),
    ],
)
def test_an_option_there_is_not(kit: Kit, options: dict[str, Any], text: str) -> None:
    with pytest.raises(AccumulationError) as caught:
        accumulate(kit.keras.optimizers.SGD(), **options)

    assert str(caught.value) == text


def test_what_is_no_optimizer(tf: Any) -> None:
    with pytest.raises(AccumulationError) as caught:
        accumulate("adam")

    assert str(caught.value) == (
        "expected an optimizer, got 'adam'\n"
        "help: pass an optimizer of Keras 3 or tf_keras, such as keras.optimizers.Adam()"
    )


def test_an_optimizer_that_accumulates_already(keras: Any) -> None:
    with pytest.raises(AccumulationError) as caught:
        accumulate(keras.optimizers.SGD(gradient_accumulation_steps=4))
    assert str(caught.value) == (
        "the optimizer accumulates by itself already (gradient_accumulation_steps=4)\n"
        "help: leave out gradient_accumulation_steps"
    )

    with pytest.raises(AccumulationError) as caught:
        accumulate(accumulate(keras.optimizers.SGD()))
    assert str(caught.value) == (
        "the optimizer accumulates already\nhelp: call wg.accumulate once, with the product of the steps"
    )


def test_an_optimizer_built_on_other_variables(tf: Any, kit: Kit) -> None:
    other, own = tf.Variable([1.0]), tf.Variable([1.0], name="own")
    inner = kit.keras.optimizers.Adam()
    inner.build([other])
    optimizer = accumulate(inner, weight="equal")

    with pytest.raises(AccumulationError, match="the optimizer was built on other variables: it does not know `own`"):
        optimizer.apply_gradients([(tf.ones([1]), own)])

    assert own.numpy()[0] == 1.0
    assert optimizer.microbatches == 0


def test_no_warning_where_nothing_is_wrong(kit: Kit) -> None:
    x, y = examples(16)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccumulationWarning)
        train(kit.model(), accumulate(kit.keras.optimizers.SGD(0.1)), x, y, batch_size=8)
