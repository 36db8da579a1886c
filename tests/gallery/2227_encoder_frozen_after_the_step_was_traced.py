# case: encoder_frozen_after_the_step_was_traced
# verdict: bug; static: no
# cause: frozen-by-flag | python-state-in-graph | optimizer-variable-mismatch
# expect_line: 36 26
# expect_variables: encoder/*
# symptom_today: silent: the encoder still moves in the second phase
# exit: 0
# fix: freeze first and trace a new tf.function for the second phase (or pass the variables to be trained)
# source: osh/KerasGAN#10, keras-team/keras#3268 (trainable = False during training does not freeze)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(17)
encoder = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(7, activation="tanh")], name="encoder")
head = keras.Sequential([keras.layers.Input((7,)), keras.layers.Dense(2)], name="head")
model = keras.Sequential([encoder, head])
optimizer = keras.optimizers.SGD(0.1)
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = cross_entropy(y, model(x, training=True))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


x = tf.random.normal((64, 5))
y = tf.cast(x[:, 0] > 0, tf.int32)
for _ in range(5):
    train_step(x, y)

encoder.trainable = False
frozen = encoder.get_weights()[0].copy()
for _ in range(5):
    train_step(x, 1 - y)
drift = np.abs(encoder.get_weights()[0] - frozen).max()
print("trainable variables:", len(model.trainable_variables), "drift of the frozen encoder:", drift)
assert drift > 0
