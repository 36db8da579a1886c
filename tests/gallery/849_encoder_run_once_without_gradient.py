# case: encoder_run_once_without_gradient
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: frozen features cached before the loop, head trained on them
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
encoder = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(6, activation="relu")])
head = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(2)])
x = np.random.default_rng(1).normal(size=(60, 10)).astype("float32")
y = (x[:, 0] > 0).astype("int32")
cached = encoder.predict(x, verbose=0)
direct = encoder(x, training=False).numpy()
opt = keras.optimizers.Adam(0.05)
losses = []
for features in (cached, direct):
    for _ in range(8):
        with tf.GradientTape() as tape:
            logits = head(features, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        opt.apply_gradients(zip(tape.gradient(loss, head.trainable_variables), head.trainable_variables))
        losses.append(float(loss))
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
