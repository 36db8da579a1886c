# case: flattened_dictionary_in_another_order
# verdict: bug; static: no
# cause: misrouted-gradient
# expect_line: 30
# expect_variables: policy, decoder (the encoder is in the middle of both orders)
# symptom_today: silent: tf.nest sorts dictionary keys, the hand-made list does not
# exit: 0
# fix: flatten variables and gradients the same way (tf.nest.flatten for both)
# seen: nested parameter dictionaries with tf.nest
import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
params = {
    "policy": tf.Variable(rng.normal(size=(3, 3)).astype("float32"), name="policy"),
    "encoder": tf.Variable(rng.normal(size=(3, 3)).astype("float32"), name="encoder"),
    "decoder": tf.Variable(rng.normal(size=(3, 3)).astype("float32"), name="decoder"),
}
opt = keras.optimizers.SGD(0.05)


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        h = tf.tanh(x @ params["encoder"])
        loss = tf.reduce_mean((h @ params["decoder"] - x) ** 2) + 0.1 * tf.reduce_mean((h @ params["policy"]) ** 2)
    grads = tape.gradient(loss, params)
    flat = tf.nest.flatten(grads)
    opt.apply_gradients(zip(flat, params.values()))
    return loss, grads


x = tf.random.normal((16, 3), seed=0)
before = params["policy"].numpy().copy()
loss, grads = train(x)
moved = before - params["policy"].numpy()
print(float(loss))
assert not np.allclose(moved, 0.05 * grads["policy"].numpy(), atol=1e-5)
