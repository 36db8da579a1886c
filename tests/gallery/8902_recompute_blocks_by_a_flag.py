# case: recompute_blocks_by_a_flag
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; the gradients are those of the network without recomputation
# exit: 0
# fix: -
# source: tensorflow/tensorflow#36968 (recompute_grad with Keras layers: wrap a function and keep the layers around)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)


class ResidualBlock(keras.layers.Layer):
    def __init__(self, width, checkpoint=True, **kwargs):
        super().__init__(**kwargs)
        self.norm = keras.layers.LayerNormalization()
        self.up = keras.layers.Dense(2 * width, activation="gelu")
        self.down = keras.layers.Dense(width)
        self.checkpoint = checkpoint

    def build(self, shape):
        self.norm.build(shape)
        self.up.build(shape)
        self.down.build((shape[0], self.up.units))

    def body(self, x):
        return x + self.down(self.up(self.norm(x)))

    def call(self, x):
        return tf.recompute_grad(self.body)(x) if self.checkpoint else self.body(x)


model = keras.Sequential([keras.layers.Input((16,))] + [ResidualBlock(16, name=f"block_{i}") for i in range(2)]
                         + [keras.layers.Dense(4, name="classes")])
x = tf.constant(rng.normal(size=(128, 16)), tf.float32)
y = tf.argmax(x[:, :4] * x[:, 4:8], axis=1)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.AdamW(3e-3, weight_decay=1e-3)


def loss_and_grads():
    with tf.GradientTape() as tape:
        loss = xent(y, model(x, training=True))
    return loss, tape.gradient(loss, model.trainable_variables)


@tf.function
def train_step():
    loss, grads = loss_and_grads()
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


with_recompute = loss_and_grads()[1]
for block in model.layers[:2]:
    block.checkpoint = False
without = loss_and_grads()[1]
for block in model.layers[:2]:
    block.checkpoint = True
for a, b in zip(with_recompute, without):
    np.testing.assert_allclose(a, b, atol=1e-5)
before = model.get_weights()
losses = [float(train_step()) for _ in range(30)]
print("loss", losses[0], losses[-1])
assert losses[-1] < 0.7 * losses[0]
assert not any(np.array_equal(a, b) for a, b in zip(before, model.get_weights()))
