# case: brain_float_needs_no_loss_scale
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (mixed_bfloat16)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
keras.mixed_precision.set_global_policy("mixed_bfloat16")
model = keras.Sequential([
    keras.Input((10, 4)),
    keras.layers.Conv1D(16, 3, activation="relu"),
    keras.layers.LayerNormalization(),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(3, dtype="float32"),
])
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
opt = keras.optimizers.Adam(5e-3, global_clipnorm=1.0)
rng = np.random.default_rng(0)
x = rng.normal(size=(96, 10, 4)).astype("float32")
y = np.argmax(x.mean(1)[:, :3], -1)


@tf.function(jit_compile=False)
def step(x, y):
    with tf.GradientTape() as tape:
        loss = ce(y, model(x, training=True)) + sum(model.losses)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


log = [float(step(tf.constant(x), tf.constant(y))) for _ in range(30)]
print(log[0], log[-1])
assert log[-1] < log[0]
