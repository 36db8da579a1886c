# case: task_weights_by_gradient_norm_done_right
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: balancing two losses by the size of their gradients
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
inputs = keras.Input((6,))
shared = keras.layers.Dense(12, activation="relu", name="shared")(inputs)
model = keras.Model(inputs, [keras.layers.Dense(1, name="depth")(shared), keras.layers.Dense(1, name="normal")(shared)])
task_weights = tf.Variable([1.0, 1.0], name="task_weights")
opt, weight_opt = keras.optimizers.Adam(1e-3), keras.optimizers.SGD(0.005)
shared_kernel = model.get_layer("shared").kernel


@tf.function
def balance_step(x, y1, y2):
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape(persistent=True) as inner:
            p1, p2 = model(x, training=True)
            first = task_weights[0] * tf.reduce_mean((p1 - y1) ** 2)
            second = task_weights[1] * tf.reduce_mean((p2 - y2) ** 2)
        norms = tf.stack([tf.norm(inner.gradient(part, shared_kernel)) for part in (first, second)])
        wanted = tf.stop_gradient(tf.reduce_mean(norms))
        norm_loss = tf.reduce_sum(tf.abs(norms - wanted))
        total = first + second
    weight_grad = outer.gradient(norm_loss, task_weights)
    grads = outer.gradient(total, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    weight_opt.apply_gradients([(weight_grad, task_weights)])
    task_weights.assign(2.0 * task_weights / tf.reduce_sum(task_weights))
    return total


x = tf.random.normal((32, 6), seed=2)
for _ in range(8):
    balance_step(x, x[:, :1], 5.0 * x[:, 1:2])
print(task_weights.numpy())
assert task_weights.numpy()[0] > task_weights.numpy()[1]
