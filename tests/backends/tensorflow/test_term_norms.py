"""How much each term of a loss gives to each variable, held against a tape of our own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

import whygrad as wg  # noqa: E402

STEPS = 3


class Coder:
    """An autoencoder with a prior and a penalty, and the same noise in every run."""

    def __init__(self, *, compiled: bool) -> None:
        import tensorflow as tf

        tf.random.set_seed(7)
        self.encoder = tf.Variable(0.2 * tf.random.stateless_normal((4, 6), (1, 2)), name="encoder")
        self.decoder = tf.Variable(0.2 * tf.random.stateless_normal((3, 4), (3, 4)), name="decoder")
        self.x = tf.random.stateless_normal((8, 4), (5, 6))
        self.optimizer = tf.keras.optimizers.SGD(0.01)
        self.step: Callable[[], Any] = tf.function(self._step) if compiled else self._step

    def terms(self) -> tuple[Any, Any, Any]:
        import tensorflow as tf

        mean, spread = tf.split(self.x @ self.encoder, 2, axis=1)
        z = mean + tf.exp(spread) * tf.random.stateless_normal((8, 3), (7, 8))
        error = tf.reduce_mean(tf.square(z @ self.decoder - self.x))
        prior = tf.reduce_mean(mean**2 + tf.exp(2.0 * spread) - spread)
        return error, prior, tf.nn.l2_loss(self.encoder) + tf.nn.l2_loss(self.decoder)

    def _step(self) -> None:
        import tensorflow as tf

        weights = [self.encoder, self.decoder]
        with tf.GradientTape() as tape:
            error, prior, decay = self.terms()
            loss = error + 0.3 * (0.5 * prior + 0.01 * decay)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))

    def norms(self) -> list[list[float]]:
        """By one tape that is asked three times, with the factors of the loss."""
        import tensorflow as tf

        weights = [self.encoder, self.decoder]
        with tf.GradientTape(persistent=True) as tape:
            error, prior, decay = self.terms()
        given = [(error, 1.0), (prior, 0.15), (decay, 0.003)]
        rows = [(tape.gradient(term, weights, unconnected_gradients="zero"), factor) for term, factor in given]
        return [[factor * float(tf.norm(gradient)) for gradient in row] for row, factor in rows]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_each_term_gives_what_a_backward_pass_of_its_own_gives(compiled: bool) -> None:
    slow, squares = Coder(compiled=False), np.zeros((3, 2))
    for _ in range(STEPS):
        squares += np.square(slow.norms())
        slow.step()
    watched = Coder(compiled=compiled)
    with wg.watch(terms=True) as run:
        for _ in range(STEPS):
            watched.step()
    [reach] = run.report().gradients

    measured = [[term.norms[name] for name in ("encoder", "decoder")] for term in reach.terms]
    np.testing.assert_allclose(measured, np.sqrt(squares / STEPS), rtol=1e-4)
    assert [term.is_penalty for term in reach.terms] == [False, False, True]
    assert {term.steps for term in reach.terms} == {STEPS}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_measuring_terms_changes_no_bit_of_the_weights(compiled: bool) -> None:
    bare, watched = Coder(compiled=compiled), Coder(compiled=compiled)
    for _ in range(STEPS):
        bare.step()
    with wg.watch(terms=True):
        for _ in range(STEPS):
            watched.step()

    np.testing.assert_array_equal(bare.encoder.numpy(), watched.encoder.numpy())
    np.testing.assert_array_equal(bare.decoder.numpy(), watched.decoder.numpy())


def test_a_tape_that_is_used_up_says_so_as_ever() -> None:
    import tensorflow as tf

    w = tf.Variable(2.0)
    with wg.watch(terms=True):
        with tf.GradientTape() as tape:
            loss = w * w + tf.sin(w)
        tape.gradient(loss, w)
        with pytest.raises(RuntimeError, match="persistent"):
            tape.gradient(loss, w)


def test_fit_shows_what_the_regularisers_give() -> None:
    import keras

    keras.utils.set_random_seed(3)
    layer = keras.layers.Dense(1, kernel_regularizer=keras.regularizers.L2(0.1), name="out")
    model = keras.Sequential([keras.Input((3,)), layer])
    model.compile(keras.optimizers.SGD(0.0), "mse")
    x, y = np.ones((16, 3), "float32"), np.zeros((16, 1), "float32")
    with wg.watch(terms=True) as run:
        model.fit(x, y, batch_size=8, epochs=1, verbose=0)
    [reach] = run.report().gradients
    kernel = layer.kernel.numpy()

    [penalty] = [term for term in reach.terms if term.is_penalty]
    [norm] = [norm for name, norm in penalty.norms.items() if name.endswith("kernel")]
    assert math.isclose(norm, 0.2 * float(np.linalg.norm(kernel)), rel_tol=1e-4)


def test_explain_measures_terms_on_request_only() -> None:
    coder = Coder(compiled=False)

    assert not any(term.norms for term in wg.explain(coder.step).gradients[0].terms)
    assert "norm of the gradient that each term of `loss` gives" in str(wg.explain(coder.step, terms=True))
