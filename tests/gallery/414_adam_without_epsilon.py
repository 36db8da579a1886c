# case: adam_without_epsilon
# verdict: bug; static: yes
# cause: nan-optimizer
# expect_line: 18 26
# expect_variables: codes/embeddings (the rows that are never looked up)
# symptom_today: silent: 0 / 0 in the update of rows with zero gradient
# exit: 0
# fix: keep epsilon at 1e-7
# seen: epsilon=0 to match a paper's formula
import keras
import numpy as np
import tensorflow as tf

inputs = keras.Input((2,), dtype="int32")
codes = keras.layers.Embedding(6, 3, name="codes")(inputs)
flat = keras.layers.Flatten()(codes)
net = keras.Model(inputs, keras.layers.Dense(1)(flat))
opt = keras.optimizers.Adam(learning_rate=0.01, epsilon=0.0)


@tf.function
def train(ids, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(ids) - y) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for _ in range(2):
    loss = train(tf.constant([[0, 1], [1, 2]]), tf.constant([[1.0], [0.0]]))
table = net.get_layer("codes").get_weights()[0]
print(float(loss), table[4])
assert np.isfinite(float(loss)) and np.isnan(table[4]).all()
