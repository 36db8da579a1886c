# case: metrics_updated_in_the_tape
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: Keras metrics called between loss and gradient
import keras
import tensorflow as tf

keras.utils.set_random_seed(2)
net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])
opt = keras.optimizers.SGD(0.5)
accuracy, mean_loss = keras.metrics.SparseCategoricalAccuracy(), keras.metrics.Mean()
x = tf.random.normal((90, 4), seed=4)
y = tf.argmax(x[:, :3], -1)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(30)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        logits = net(xb, training=True)
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(yb, logits, from_logits=True))
        accuracy.update_state(yb, logits)
        mean_loss.update_state(loss)
        wrong = tf.math.count_nonzero(tf.argmax(logits, -1) != yb)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return wrong


results = []
for epoch in range(4):
    accuracy.reset_state(), mean_loss.reset_state()
    for xb, yb in data:
        wrong = train_step(xb, yb)
    results.append((float(mean_loss.result()), float(accuracy.result()), int(wrong)))
print(results)
assert results[-1][0] < results[0][0]
