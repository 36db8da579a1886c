# case: evaluation_helper_reused_for_training
# verdict: bug; static: no
# cause: training-flag
# expect_line: 29 37
# expect_variables: - (batch normalisation and dropout)
# symptom_today: silent: batch statistics are never collected, the normalisation keeps its first state
# exit: 0
# fix: pass training=True from the training step into the helper
# seen: one forward function for both loops
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(7)


def make_encoder():
    return keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(12), keras.layers.BatchNormalization(),
                             keras.layers.ReLU(), keras.layers.Dropout(0.4)], name="encoder")


class Trainer:
    def __init__(self):
        self.encoder, self.head = make_encoder(), keras.layers.Dense(3)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.opt = keras.optimizers.Adam(1e-2)

    def forward(self, x):
        return self.head(self.encoder(x, training=False))

    def evaluate(self, x, y):
        return float(tf.reduce_mean(tf.cast(tf.argmax(self.forward(x), -1) == y, tf.float32)))

    def train(self, x, y, epochs):
        for _ in range(epochs):
            with tf.GradientTape() as tape:
                loss = self.loss_fn(y, self.forward(x))
            variables = self.encoder.trainable_variables + self.head.trainable_variables
            self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return float(loss)


rng = np.random.default_rng(7)
x = (5.0 + 3.0 * rng.normal(size=(64, 6))).astype("float32")
y = x[:, :3].argmax(axis=1)
trainer = Trainer()
print(trainer.train(x, y, epochs=4), trainer.evaluate(x, y))
norm = trainer.encoder.layers[1]
assert np.all(norm.moving_mean.numpy() == 0.0) and np.all(norm.moving_variance.numpy() == 1.0)
