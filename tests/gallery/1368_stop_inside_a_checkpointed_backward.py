# case: stop_inside_a_checkpointed_backward
# verdict: bug
# cause: stop-gradient
# expect_line: 42
# expect_variables: -
# symptom_today: Keras warns that gradients do not exist for the checkpointed blocks; only the output layer learns
# exit: 0
# fix: no stop_gradient around the product that is differentiated in the backward pass
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(4)


class Recompute(layers.Layer):
    """Gradient checkpointing: throw the activations of a block away, compute them again in the backward pass."""

    def __init__(self, block, **kwargs):
        super().__init__(**kwargs)
        self.block = block

    def build(self, input_shape):
        self.block.build(input_shape)
        super().build(input_shape)

    def compute_output_shape(self, input_shape):
        return self.block.compute_output_shape(input_shape)

    def call(self, inputs):
        @tf.custom_gradient
        def forward(x):
            out = self.block(x)

            def backward(upstream, variables=None):
                variables = list(variables or [])
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    again = self.block(x)
                    # vector-Jacobian product: d sum(upstream * out) / d (x, weights)
                    pulled = tf.stop_gradient(tf.reduce_sum(tf.stop_gradient(upstream) * again))
                grads = tape.gradient(pulled, [x] + variables)
                return grads[0], grads[1:]

            return out, backward

        return forward(inputs)


def make_block(width, name):
    return keras.Sequential([
        layers.Dense(width * 2, activation="tanh", name=name + "_up"),
        layers.Dense(width, activation="tanh", name=name + "_down"),
    ], name=name)


inputs = keras.Input((10,))
h = Recompute(make_block(24, "block1"), name="ckpt1")(inputs)
h = Recompute(make_block(24, "block2"), name="ckpt2")(h)
outputs = layers.Dense(1, name="out")(h)
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")

rng = np.random.default_rng(1)
x = rng.normal(size=(768, 10)).astype("float32")
y = (np.tanh(x[:, :1] + x[:, 1:2]) - 0.5 * x[:, 2:3]).astype("float32")

history = model.fit(x, y, batch_size=64, epochs=8, verbose=0)
for i, l in enumerate(history.history["loss"]):
    print(f"epoch {i}  loss {l:.4f}")
print("variance of the targets (what a constant would reach):", float(y.var()))
