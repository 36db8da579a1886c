# case: logging_inside_the_tape
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: printing and plotting from within the with block
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(2)])
opt = keras.optimizers.Adam(0.02)
x = tf.random.normal((40, 3), seed=1)
labels = tf.cast(x[:, 0] > 0, tf.int64)
log = {"loss": [], "accuracy": [], "confidence": [], "norm": []}
for _ in range(12):
    with tf.GradientTape() as tape:
        logits = net(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        log["loss"].append(float(loss))
        log["accuracy"].append(np.mean(logits.numpy().argmax(-1) == labels.numpy()))
        log["confidence"].append(tf.reduce_max(tf.nn.softmax(logits), -1).numpy().mean())
        log["norm"].append(np.linalg.norm(net.trainable_variables[0].numpy()))
        if log["loss"][-1] > 100.0:
            raise RuntimeError("diverged")
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
print({k: float(v[-1]) for k, v in log.items()})
assert log["loss"][-1] < log["loss"][0]
