# case: switch_layer_scaled_by_its_gate
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: Switch transformer routing: the best expert only, times its probability, with balance and router losses
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(50)
EXPERTS, WIDTH = 3, 10


class Switch(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.gate = layers.Dense(EXPERTS, kernel_regularizer=keras.regularizers.L2(1e-4), name="gate")
        self.experts = [layers.Dense(WIDTH, activation="gelu", name=f"expert{i}") for i in range(EXPERTS)]

    def build(self, shape):
        for layer in [self.gate, *self.experts]:
            layer.build(shape)

    def call(self, x):
        logits = self.gate(x)
        probabilities = tf.nn.softmax(logits)
        chosen = tf.argmax(probabilities, axis=-1)
        one_hot = tf.one_hot(chosen, EXPERTS)
        gate = tf.reduce_max(probabilities, axis=-1, keepdims=True)
        outputs = tf.stack([expert(x) for expert in self.experts], axis=1)
        picked = tf.einsum("be,bed->bd", one_hot, outputs)
        load = tf.reduce_mean(one_hot, axis=0) * tf.reduce_mean(probabilities, axis=0)
        self.add_loss(0.01 * EXPERTS * tf.reduce_sum(load))
        self.add_loss(1e-3 * tf.reduce_mean(tf.square(tf.reduce_logsumexp(logits, axis=-1))))
        return gate * picked

    def compute_output_shape(self, shape):
        return (shape[0], WIDTH)


inputs = keras.Input((6,))
h = layers.Dense(WIDTH, activation="tanh", name="stem")(inputs)
h = layers.Add()([h, Switch(name="switch")(h)])
model = keras.Model(inputs, layers.Dense(1, name="answer")(h))
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
rng = np.random.default_rng(50)
x = rng.normal(size=(192, 6)).astype("float32")
y = np.where(x[:, :1] > 0, x[:, 1:2], -x[:, 2:3]).astype("float32")
history = model.fit(x, y, epochs=5, batch_size=48, verbose=0).history
print(history["loss"])
assert history["loss"][-1] < history["loss"][0]
