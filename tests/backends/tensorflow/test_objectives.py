"""What trainings compare, as the capture of TensorFlow sees it: in `fit`, in loops, in functions, where it fails."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from whygrad.graph import Recording
from whygrad.graph.learning import Activation, LayerKind, LossKind, Missed, Objective
from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow

RNG = np.random.default_rng(0)
X = RNG.normal(size=(96, 4)).astype("float32")
Y = X[:, :3].argmax(1)


def classifier(keras: ModuleType, last: str | None = "softmax") -> Any:
    layers = keras.layers
    return keras.Sequential([keras.Input((4,)), layers.Dense(8, "relu"), layers.Dropout(0.2), layers.Dense(3, last)])


def only(recording: Recording) -> Objective:
    [found] = recording.objectives
    return found


def test_fit_tells_loss_layers_targets_and_predictions(keras: ModuleType) -> None:
    model = classifier(keras)
    with watch() as run:
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(X, Y, epochs=3, batch_size=32, verbose=0)
    found = only(run.recording())

    assert (found.loss, found.from_logits, found.activation) == (LossKind.SPARSE, False, Activation.SOFTMAX)
    assert [layer.kind for layer in found.layers] == [LayerKind.DENSE, LayerKind.DROPOUT, LayerKind.DENSE]
    assert [layer.into for layer in found.layers] == [None, 0, 1]
    assert (found.targets.minimum, found.targets.maximum, found.targets.distinct) == (0, 2, 3)
    assert found.predicted.shape == (32, 3)
    assert all(abs(total - 1.0) < 1e-5 for total in found.predicted.sums)
    assert (found.steps, found.whole, [each.name for each in found.metrics]) == (9, True, ["accuracy"])
    assert found.where is not None
    assert found.trained is not None
    assert found.where.line < found.trained.line


def test_data_set_is_known_by_its_batches(tf: ModuleType, keras: ModuleType) -> None:
    model = classifier(keras)
    data = tf.data.Dataset.from_tensor_slices((X, Y)).map(lambda x, y: (x, tf.one_hot(y, 3))).batch(32)
    with watch() as run:
        model.compile("adam", keras.losses.CategoricalCrossentropy())
        model.fit(data, epochs=2, shuffle=False, verbose=0)
    found = only(run.recording())

    assert found.targets.is_one_hot
    assert not found.whole
    assert [each.shape for each in found.inputs] == [(32, 4)]


def test_data_set_made_of_arrays_is_known_as_a_whole(tf: ModuleType, keras: ModuleType) -> None:
    model = classifier(keras)
    data = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(96).batch(32).prefetch(1)
    held = tf.data.Dataset.from_tensor_slices((X[:40], Y[:40])).batch(40)
    with watch() as run:
        model.compile("adam", "sparse_categorical_crossentropy")
        model.fit(data, validation_data=held, shuffle=False, verbose=0)
    found = only(run.recording())

    assert found.whole
    assert [each.shape for each in found.inputs] == [(96, 4)]
    assert found.missed == (Missed.VALIDATION_IN_TRAINING,)


def test_data_sets_that_are_shuffled_apart_or_cut_anew_are_seen(tf: ModuleType, keras: ModuleType) -> None:
    slices, fit = tf.data.Dataset.from_tensor_slices, {"shuffle": False, "verbose": 0}
    together = tf.data.Dataset.zip((slices(X), slices(Y))).shuffle(96)
    one_order = tf.data.Dataset.zip((slices(X).shuffle(96, seed=1), slices(Y).shuffle(96, seed=1)))
    lost = tf.data.Dataset.zip((slices(X).shuffle(96), slices(Y).shuffle(96)))
    settled = slices((X, Y)).shuffle(96, reshuffle_each_iteration=False)
    again, kept = slices((X, Y)).shuffle(96, seed=1), slices((X, Y)).shuffle(96, seed=1, reshuffle_each_iteration=False)
    drawn_twice, drawn_once = (
        tf.data.Dataset.zip((each.map(lambda x, y: x), each.map(lambda x, y: y))) for each in (again, kept)
    )
    for data, held, expected in (
        (drawn_twice, None, (Missed.SHUFFLED_APART,)),
        (drawn_once, None, ()),
        (together, None, ()),
        (one_order, None, ()),
        (lost, None, (Missed.SHUFFLED_APART,)),
        (together.take(64), together.skip(64), (Missed.SPLIT_ANEW,)),
        (settled.take(64), settled.skip(64), ()),
    ):
        model = classifier(keras)
        with watch() as run:
            model.compile("adam", "sparse_categorical_crossentropy")
            model.fit(data.batch(32), validation_data=None if held is None else held.batch(32), **fit)
        assert only(run.recording()).missed == expected


def test_loop_over_a_data_set_in_a_function_tells_what_each_step_compares(tf: ModuleType, keras: ModuleType) -> None:
    model, loss_of = classifier(keras), keras.losses.SparseCategoricalCrossentropy()
    optimizer = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5))
    optimizer.build(model.trainable_variables)

    @tf.function
    def epoch(data: Any) -> None:
        for x, y in data:
            with tf.GradientTape() as tape:
                loss = loss_of(y, model(x, training=True))
            optimizer.apply_gradients(
                zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
            )

    with watch() as run:
        for _ in range(4):
            epoch(tf.data.Dataset.from_tensor_slices((X, Y)).batch(32))
    found = only(run.recording())
    [update] = run.recording().updates
    [request] = run.recording().requests

    assert (found.targets.maximum, found.predicted.shape) == (2, (32, 3))
    assert (request.ran, len(request.losses)) == (12, 12)
    assert update.rates == pytest.approx([0.1 * 0.5**i for i in range(12)])


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("no", [0.0, -1.0])
def test_hinge_by_hand_is_known_by_its_ops(tf: ModuleType, keras: ModuleType, compiled: bool, no: float) -> None:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    labels = np.where(X[:, :1] > 0, 1.0, no).astype("float32")

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.maximum(0.0, 1.0 - y * model(x)))
        return tape.gradient(loss, model.trainable_variables)

    run_step = tf.function(step) if compiled else step
    with watch() as run:
        for _ in range(3):
            run_step(X, labels)
    found = only(run.recording())

    assert (found.loss, found.targets.minimum) == (LossKind.MARGIN, no)


@pytest.mark.parametrize("compiled", [False, True])
def test_loop_tells_the_loss_object_and_the_loss_function_alike(
    tf: ModuleType, keras: ModuleType, compiled: bool
) -> None:
    for call in (keras.losses.SparseCategoricalCrossentropy(from_logits=True), _function(tf)):
        model, optimizer = classifier(keras, None), keras.optimizers.SGD(0.25)
        optimizer.build(model.trainable_variables)

        def step(x: Any, y: Any, model: Any = model, optimizer: Any = optimizer, call: Any = call) -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(call(y, model(x, training=True)))
            optimizer.apply_gradients(
                zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
            )

        run_step = tf.function(step) if compiled else step
        with watch() as run:
            for _ in range(4):
                run_step(X, Y)
        found = only(run.recording())
        [update] = run.recording().updates
        [request] = run.recording().requests

        assert (found.loss, found.from_logits, found.activation) == (LossKind.SPARSE, True, Activation.LINEAR)
        assert (found.predicted.rows, found.targets.maximum, found.steps) == (96, 2, 4)
        assert (update.rate, update.adaptive) == (0.25, False)
        assert len(request.losses) == 4
        assert request.losses[-1] < request.losses[0]


def _function(tf: ModuleType) -> Any:
    return lambda y, p: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=p)


def test_activation_of_a_model_of_the_users_own_is_found_through_its_ops(tf: ModuleType, keras: ModuleType) -> None:
    class Own(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = keras.layers.Dense(8), keras.layers.Dense(3)

        def call(self, x: Any) -> Any:
            return tf.nn.softmax(self.last(tf.nn.tanh(self.first(x))))

    model = Own()
    with watch() as run:
        model.compile("sgd", "sparse_categorical_crossentropy")
        model.fit(X, Y, verbose=0)
    found = only(run.recording())

    assert [(layer.type_name, layer.activation) for layer in found.layers] == [
        ("Dense", Activation.SOFTMAX),
        ("Dense", Activation.TANH),
    ]
    assert found.layers[0].activated is not None


def test_labels_that_do_not_fit_are_known_although_the_step_dies_of_them(keras: ModuleType) -> None:
    model = classifier(keras)
    model.compile("adam", "categorical_crossentropy")
    with watch() as run:
        with pytest.raises(ValueError, match="rank") as raised:
            model.fit(X, Y, verbose=0)
        run.failed(raised.value)
    [found] = run.report().diagnostics

    assert (found.code, found.certain) == ("WG806", True)


def test_validation_rows_among_the_inputs_are_seen(keras: ModuleType) -> None:
    model = classifier(keras)
    with watch() as run:
        model.compile("adam", "sparse_categorical_crossentropy")
        model.fit(X, Y, validation_data=(X[:40].copy(), Y[:40]), verbose=0)
    found = only(run.recording())

    assert found.missed == (Missed.VALIDATION_IN_TRAINING,)
    assert found.evaluated


def test_softmax_over_another_axis_is_none_over_one_unit(keras: ModuleType) -> None:
    steps = keras.Input((7, 4))
    scores = keras.layers.Softmax(axis=1)(keras.layers.Dense(1)(steps))
    pooled = keras.layers.GlobalAveragePooling1D()(keras.layers.Multiply()([steps, scores]))
    model = keras.Model(steps, keras.layers.Dense(1, "sigmoid")(pooled))
    with watch() as run:
        model.compile("adam", "binary_crossentropy")
        model.fit(RNG.normal(size=(32, 7, 4)), RNG.integers(0, 2, 32), verbose=0)
    softmax = next(layer for layer in only(run.recording()).layers if layer.type_name == "Softmax")

    assert softmax.units == 7
    assert run.report().diagnostics == ()


WAYS = (
    "named",
    "a function of the framework",
    "a function of the user's",
    "an op after the layer",
    "beside one of its kind",
    "beside another",
    "added to",
    "shifted",
    "added by a layer",
)


def outputs(tf: ModuleType, keras: ModuleType) -> dict[str, tuple[Any, Activation | None]]:
    """Ways to end a network: what makes its output of two heads and of the features before them."""
    plain, layers = keras.layers.Dense(1), keras.layers
    relu = layers.Dense(1, "relu")
    return {
        "named": (lambda h: layers.Dense(1, "softplus")(h), Activation.SOFTPLUS),
        "a function of the framework": (lambda h: layers.Dense(1, activation=tf.exp)(h), Activation.EXPONENTIAL),
        "a function of the user's": (
            lambda h: layers.Dense(1, activation=lambda z: tf.square(z))(h),
            Activation.SQUARE,
        ),
        "an op after the layer": (lambda h: keras.ops.softplus(plain(h)), Activation.SOFTPLUS),
        "beside one of its kind": (lambda h: keras.ops.concatenate([relu(h), relu(h)], -1), Activation.RELU),
        "beside another": (lambda h: keras.ops.concatenate([relu(h), plain(h)], -1), None),
        "added to": (lambda h: relu(h) + plain(h), None),
        "shifted": (lambda h: relu(h) + (-6.0), None),
        "added by a layer": (lambda h: layers.Add()([relu(h), plain(h)]), None),
    }


@pytest.mark.parametrize("way", WAYS)
def test_an_output_ends_in_the_activation_that_bounds_it(tf: ModuleType, keras: ModuleType, way: str) -> None:
    make, expected = outputs(tf, keras)[way]
    given = keras.Input((4,))
    model = keras.Model(given, make(keras.layers.Dense(8, "tanh")(given)))
    with watch() as run:
        model.compile("adam", "mse")
        model.fit(X, X[:, : model.output_shape[-1]], verbose=0)

    found = only(run.recording())

    assert expected is (None if found.mixed else found.activation)


def test_targets_of_a_pipeline_are_known_by_how_they_are_spread(tf: ModuleType, keras: ModuleType) -> None:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    data = tf.data.Dataset.from_tensor_slices((X, X[:, :1])).map(lambda x, y: (x, 2.0 * y)).batch(48)
    with watch() as run:
        model.compile("adam", "mse")
        model.fit(data, epochs=4, shuffle=False, verbose=0)
    levels = np.array(only(run.recording()).targets.levels)

    assert len(levels) == 32
    assert np.all(np.diff(levels) >= 0)
    assert abs(np.mean(levels < 0) - np.mean(X[:, 0] < 0)) < 0.2
    assert abs(levels.std() - 2.0 * X[:, 0].std()) < 0.3
