"""`verify_accumulation`: the verdict on the user's own model, and the name of what couples the examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import versions
from keras_pair import Kit, examples
from whygrad.errors import AccumulationError

pytestmark = pytest.mark.tensorflow


def verify(step: Any, batch: Any, splits: Any = (16, 16, 8), **options: Any) -> Any:
    from whygrad.training.accumulation.verify import verify_accumulation

    return verify_accumulation(step, batch, splits, **options)


def squared_error(tf: Any, model: Any) -> Any:
    def step(x: Any, y: Any) -> Any:
        return tf.reduce_mean((model(x, training=True) - y) ** 2)

    return step


def test_a_plain_model_agrees_in_every_variable(tf: Any, kit: Kit) -> None:
    model = kit.model()

    found = verify(squared_error(tf, model), examples())

    assert found
    assert len(found.variables) == 4
    assert max(variable.error for variable in found.variables) < 1e-9
    assert found.couplings == ()
    assert str(found).splitlines()[0] == "16 + 16 + 8 examples against 40 at once: the gradients agree"


@pytest.mark.parametrize(
    ("layer", "kind"),
    [
        (lambda kit: kit.keras.layers.BatchNormalization(name="norm"), "examples"),
        (lambda kit: kit.keras.layers.Dropout(0.5, name="norm"), "random"),
        (lambda kit: kit.keras.layers.GaussianNoise(0.5, name="norm"), "random"),
    ],
    ids=["batch normalisation", "dropout", "noise"],
)
def test_the_layer_that_makes_them_differ_is_named(tf: Any, kit: Kit, layer: Any, kind: str) -> None:
    model = kit.model(kit.dense(5), layer(kit), kit.keras.layers.LayerNormalization(), kit.dense(2))

    found = verify(squared_error(tf, model), examples())

    assert not found
    assert [(c.name.split("/")[-1], c.kind) for c in found.couplings] == [("norm", kind)]
    assert "because of `" in str(found)


def test_a_layer_of_ones_own_that_looks_at_the_whole_batch_is_named(tf: Any, kit: Kit) -> None:
    class Centred(kit.keras.layers.Layer):  # type: ignore[misc, name-defined]
        def call(self, x: Any) -> Any:
            return x - tf.reduce_mean(x, axis=0)

    class Block(kit.keras.layers.Layer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(name="block")
            self.inner = kit.dense(4)
            self.centred = Centred(name="centred")

        def call(self, x: Any) -> Any:
            return self.centred(self.inner(x))

    model = kit.model(Block(), kit.dense(2))

    found = verify(squared_error(tf, model), examples())

    assert [c.name.split("/")[-1] for c in found.couplings] == ["centred"]  # and not the block around it
    assert found.couplings[0].difference > 0.01


def test_a_contrastive_loss_is_named(tf: Any, kit: Kit) -> None:
    model = kit.model(kit.dense(2))

    def contrastive(x: Any) -> Any:
        z = model(x)
        labels = tf.range(tf.shape(z)[0])
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, z @ tf.transpose(z)))

    found = verify(contrastive, examples()[0])

    assert not found
    assert [(c.name, c.kind) for c in found.couplings] == [("contrastive", "loss")]
    assert "what one adds depends on the others" in found.couplings[0].reason


def test_a_keras_loss_that_couples_is_named_itself(tf: Any, kit: Kit) -> None:
    class Ranked(kit.keras.losses.Loss):  # type: ignore[misc, name-defined]
        def call(self, y_true: Any, y_pred: Any) -> Any:
            return tf.reduce_mean((y_pred - tf.reduce_mean(y_pred, axis=0) - y_true) ** 2, axis=-1)

    model, loss = kit.model(kit.dense(2)), Ranked(name="ranked")

    def step(x: Any, y: Any) -> Any:
        return loss(y, model(x))

    assert [c.name for c in verify(step, examples()).couplings] == ["ranked"]


def test_a_sum_is_recognised(tf: Any, kit: Kit) -> None:
    model = kit.model()

    def step(x: Any, y: Any) -> Any:
        return tf.reduce_sum((model(x) - y) ** 2)

    assert verify(step, examples()).couplings[0].reason == "its loss is a sum: pass reduction='sum'"
    assert verify(step, examples(), reduction="sum")


def test_tokens_are_weighed_as_told(tf: Any, kit: Kit) -> None:
    model = kit.model()
    x, y = examples()
    tokens = np.linspace(1.0, 50.0, 40)

    def step(x: Any, y: Any, tokens: Any) -> Any:
        errors = tf.reduce_mean((model(x) - y) ** 2, axis=-1)
        return tf.reduce_sum(errors * tokens) / tf.reduce_sum(tokens)

    assert not verify(step, (x, y, tokens))
    assert verify(step, (x, y, tokens), weight=lambda x, y, tokens: tokens.sum())


def test_a_compiled_model_is_a_step(kit: Kit) -> None:
    model = kit.model()
    model.compile("adam", loss="mse")

    assert verify(model, examples())


def test_a_masked_model_is_weighed_by_its_unmasked_steps(kit: Kit) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(1, 9, size=(12, 5))
    for i, row in enumerate(x):
        row[1 + i // 3 :] = 0
    model = kit.model(kit.keras.layers.Embedding(9, 3, mask_zero=True), kit.dense(2), inputs=(5,))
    model.compile("adam", loss="mse")

    # early versions of Keras 3 weigh masks in float32, whatever the dtype of the model
    tolerance = 1e-6 if versions.is_early_keras_3() else None
    assert verify(model, (x, rng.normal(size=(12, 5, 2))), splits=3, tolerance=tolerance)


def test_a_variable_that_could_not_be_made_and_is_still_held_does_no_harm(tf: Any, kit: Kit) -> None:
    held = object.__new__(type(tf.Variable(0.0)))  # as where an initializer raised, and a traceback still holds it
    model = kit.model(kit.dense(1))
    model.compile("sgd", loss="mse")

    assert verify(model, examples())
    del held


def test_a_whole_training_step_changes_nothing(tf: Any, kit: Kit) -> None:
    model = kit.model(kit.dense(3), kit.keras.layers.BatchNormalization(), kit.dense(2))
    optimizer = kit.keras.optimizers.Adam(0.1)
    optimizer.build(model.trainable_variables)

    @tf.function
    def train(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    kept = [*model.get_weights(), *(v.numpy() for v in optimizer.variables)]

    found = verify(train, examples())

    assert not found
    assert found.couplings[0].kind == "examples"
    now = [*model.get_weights(), *(v.numpy() for v in optimizer.variables)]
    assert all(np.array_equal(a, b) for a, b in zip(kept, now, strict=True))
    assert not tf.config.functions_run_eagerly()


def test_hooks_are_taken_out_when_the_step_raises(tf: Any, kit: Kit) -> None:
    before = kit.keras.layers.Layer.__call__, kit.keras.losses.Loss.__call__

    def step(x: Any, y: Any) -> Any:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        verify(step, examples())

    assert (kit.keras.layers.Layer.__call__, kit.keras.losses.Loss.__call__) == before
    assert not tf.config.functions_run_eagerly()


@pytest.mark.parametrize("splits", [(16, 16), (40, 0), 0, (50, -10)])
def test_splits_that_do_not_make_up_the_batch(tf: Any, splits: Any) -> None:
    with pytest.raises(AccumulationError, match=r"`splits` (cannot be|add up to 32).* batch (of|has) 40"):
        verify(lambda x, y: tf.reduce_mean(x), examples(), splits)


def test_a_step_without_a_loss(tf: Any) -> None:
    with pytest.raises(AccumulationError) as caught:
        verify(lambda x, y: None, examples())

    assert str(caught.value) == "the step returned NoneType, not a loss\nhelp: return the loss tensor from the step"


def test_a_batch_without_arrays(tf: Any) -> None:
    with pytest.raises(AccumulationError, match="the batch holds no array"):
        verify(lambda x: x, [3.0])


def test_a_model_that_is_built_by_the_first_call(tf: Any, kit: Kit) -> None:
    model = kit.keras.Sequential([kit.dense(4), kit.dense(2)])
    optimizer = kit.keras.optimizers.SGD(0.5)

    def train(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    assert verify(train, examples())
