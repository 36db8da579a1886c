# case: saliency_asked_in_inference_mode
# verdict: bug
# cause: training-flag
# expect_line: 24
# expect_variables: -
# symptom_today: dropout never drops anything in the training step
# exit: 0
# fix: model(a, training=True) in the step
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(3)
x = np.random.normal(size=(128, 6)).astype("float32")
y = (x[:, :1] - x[:, 1:2] > 0).astype("float32")
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dropout(0.5), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)
loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = loss_fn(b, model(a))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def saliency(a):
    a = tf.constant(a)
    with tf.GradientTape() as tape:
        tape.watch(a)
        score = model(a, training=False)
    return tape.gradient(score, a)


for epoch in range(5):
    for i in range(0, 128, 32):
        loss = step(x[i : i + 32], y[i : i + 32])
print(float(loss), np.abs(saliency(x[:8])).mean())
asked = model(x).numpy()  # as in the step
assert np.array_equal(asked, model(x, training=False).numpy())
assert not np.array_equal(asked, model(x, training=True).numpy())
