# case: softmax_and_from_logits
# verdict: bug; static: no
# cause: not-a-probability
# expect_line: 17 24
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: the loss stops far above zero; Keras would take the logits back, TensorFlow's own function does not
# exit: 0
# fix: no activation in the last layer
# seen: both halves of two tutorials
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(7)
x = np.random.normal(size=(120, 4)).astype("float32")
y = x[:, :3].argmax(1)
net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(12, "relu"), keras.layers.Dense(3, "softmax")])
adam = keras.optimizers.Adam(0.02)


@tf.function
def train(features, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, net(features, training=True)))
    adam.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


for step in range(60):
    loss = train(x, y)
assert float(loss) > 0.5514
