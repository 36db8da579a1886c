# case: sparse_relu_warm_start
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: some relu units silent for a while are no fault by themselves, discussion in
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(10)


class SparseCoder(keras.Model):
    def __init__(self, codes=32):
        super().__init__()
        self.encode = keras.layers.Dense(codes, activation="relu", bias_initializer=keras.initializers.Constant(-0.7))
        self.decode = keras.layers.Dense(6)

    def call(self, x):
        code = self.encode(x)
        return self.decode(code), code


def batches(rng, count, n=16):
    basis = rng.normal(size=(8, 6))
    for _ in range(count):
        picked = (rng.uniform(size=(n, 8)) < 0.25) * rng.normal(size=(n, 8))
        yield (picked @ basis).astype("float32")


model = SparseCoder()
optimizer = keras.optimizers.Adam(5e-3)
history = []
for step, x in enumerate(batches(np.random.default_rng(1), 60)):
    with tf.GradientTape() as tape:
        recon, code = model(x)
        error = tf.reduce_mean(tf.square(recon - x))
        sparsity = tf.reduce_mean(tf.abs(code))
        loss = error + 0.01 * sparsity
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    silent = int(tf.reduce_sum(tf.cast(tf.reduce_all(code <= 0.0, axis=0), tf.int32)))
    history.append(float(error))
    if step % 15 == 0:
        print(step, "error", history[-1], "silent units in this batch", silent)
print("error", np.mean(history[:5]), "->", np.mean(history[-5:]))
