# case: own_checkpointing_no_upstream
# verdict: bug
# cause: wrong-custom-gradient
# expect_line: 32 33 36 41 42 46
# expect_variables: -
# symptom_today: no error, every variable has a gradient, but the loss stays at what a constant prediction would reach; the same model learns without the wrapper
# exit: 0
# fix: tape.gradient(again, [x] + variables, output_gradients=upstream)
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
                grads = tape.gradient(again, [x] + variables)
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
