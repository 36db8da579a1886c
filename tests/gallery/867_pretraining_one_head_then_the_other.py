# case: pretraining_one_head_then_the_other
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: two heads, trained in two phases with two optimizers
import keras
import numpy as np
import tensorflow as tf


class TwoPhase(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.layers.Dense(8, activation="relu")
        self.rebuild, self.classify = keras.layers.Dense(6), keras.layers.Dense(2)
        self.phase = "rebuild"

    def call(self, x):
        h = self.body(x)
        return self.rebuild(h), self.classify(h)

    def train_step(self, data):
        x, y = data
        head = self.rebuild if self.phase == "rebuild" else self.classify
        variables = self.body.trainable_variables + head.trainable_variables
        with tf.GradientTape() as tape:
            picture, logits = self(x, training=True)
            if self.phase == "rebuild":
                loss = tf.reduce_mean((picture - x) ** 2)
            else:
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return {"value": loss}


keras.utils.set_random_seed(4)
net = TwoPhase()
x = np.random.default_rng(4).normal(size=(64, 6)).astype("float32")
y = (x[:, 0] > 0).astype("int32")
net(x[:1])
for phase in ("rebuild", "classify"):
    net.phase = phase
    net.compile(optimizer=keras.optimizers.Adam(0.01))
    log = net.fit(x, y, epochs=4, verbose=0).history["value"]
    print(phase, log)
    assert log[-1] < log[0]
