# case: gradients_of_get_weights_arrays
# verdict: bug; static: yes
# cause: wrong-source-object
# expect_line: 22 26
# expect_variables: - (NumPy copies were asked for, not net/*)
# symptom_today: raises AttributeError: 'numpy.ndarray' object has no attribute '_id' (from tape.gradient)
# exit: 1 (AttributeError)
# fix: ask for net.trainable_variables; get_weights() returns NumPy copies that the loss never saw
# source: tensorflow/tensorflow#45582 (get_weights taken for the trainable variables)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(6, activation="relu"), keras.layers.Dense(2)], name="net")
rng = np.random.default_rng(0)
x = rng.normal(size=(20, 4)).astype("float32")
y = (x.sum(1) > 0).astype("int64")
lr = 0.1

for epoch in range(3):
    weights = net.get_weights()
    with tf.GradientTape() as tape:
        logits = net(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    grads = tape.gradient(loss, weights)
    net.set_weights([w - lr * g for w, g in zip(weights, grads)])
    print(epoch, float(loss))
