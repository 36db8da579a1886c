# case: mean_of_means_of_means
# verdict: bug; static: no
# cause: accumulation-averaged-twice
# expect_line: 22 40
# expect_variables: student/* (updates 4 times too small)
# symptom_today: silent: the update is a quarter of the full-batch one
# exit: 0
# fix: divide once, either the loss or the sum
# source: huggingface/transformers PR#35207 (loss divided twice by the number of accumulation steps), OpenNMT/OpenNMT-tf PR#808 (scale the loss, not the gradients as well)
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
MICRO = 4
student = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)], name="student")
opt = keras.optimizers.SGD(0.1)
x = tf.random.normal((32, 5), seed=2)
y = tf.sin(tf.reduce_sum(x, axis=1, keepdims=True))


def scaled_loss(xb, yb):
    return tf.reduce_mean(tf.square(student(xb, training=True) - yb)) / MICRO


def accumulate():
    total = [tf.zeros(v.shape) for v in student.trainable_variables]
    for xb, yb in zip(tf.split(x, MICRO), tf.split(y, MICRO)):
        with tf.GradientTape() as tape:
            loss = scaled_loss(xb, yb)
        grads = tape.gradient(loss, student.trainable_variables)
        total = [t + g for t, g in zip(total, grads)]
    return total


with tf.GradientTape() as tape:
    whole = tf.reduce_mean(tf.square(student(x, training=True) - y))
reference = tape.gradient(whole, student.trainable_variables)

for _ in range(5):
    grads = [g / MICRO for g in accumulate()]
    if _ == 0:
        factor = float(tf.linalg.global_norm(grads) / tf.linalg.global_norm(reference))
    opt.apply_gradients(zip(grads, student.trainable_variables))
print("length of the accumulated gradient against the full batch:", factor)
assert abs(factor - 0.25) < 1e-3
