# case: dataset_loop_in_a_function
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: one epoch as a tf.function over a dataset
import keras
import tensorflow as tf

keras.utils.set_random_seed(8)
net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(6, activation="relu"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.01)
opt.build(net.trainable_variables)
x = tf.random.normal((48, 3), seed=8)
data = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).shuffle(48, seed=1).batch(8).prefetch(1)


@tf.function
def epoch(dataset):
    total, count = 0.0, 0
    for xb, yb in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(xb, training=True) - yb) ** 2)
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        total += loss
        count += 1
        if count % 3 == 0:
            tf.debugging.assert_all_finite(loss, "loss")
    return total / tf.cast(count, tf.float32)


losses = [float(epoch(data)) for _ in range(5)]
print(losses)
assert losses[-1] < losses[0]
