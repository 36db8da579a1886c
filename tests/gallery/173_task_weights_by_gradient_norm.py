# case: task_weights_by_gradient_norm
# verdict: bug; static: no
# cause: outside-tape
# expect_line: 29 33 34
# expect_variables: task_weights
# symptom_today: the gradient of the task weights is None; apply raises ValueError
# exit: 1 (ValueError)
# fix: take the inner gradients under the outer tape (gradients of gradients)
# seen: balancing two losses by the size of their gradients
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
inputs = keras.Input((6,))
shared = keras.layers.Dense(12, activation="relu", name="shared")(inputs)
model = keras.Model(inputs, [keras.layers.Dense(1, name="depth")(shared), keras.layers.Dense(1, name="normal")(shared)])
task_weights = tf.Variable([1.0, 1.0], name="task_weights")
opt, weight_opt = keras.optimizers.Adam(1e-3), keras.optimizers.SGD(0.025)
shared_kernel = model.get_layer("shared").kernel


def balance_step(x, y1, y2):
    with tf.GradientTape(persistent=True) as tape:
        p1, p2 = model(x, training=True)
        losses = tf.stack([tf.reduce_mean((p1 - y1) ** 2), tf.reduce_mean((p2 - y2) ** 2)])
        first, second = task_weights[0] * losses[0], task_weights[1] * losses[1]
        total = first + second
    grads = tape.gradient(total, model.trainable_variables)
    norms = [tf.norm(tape.gradient(part, shared_kernel)) for part in (first, second)]
    with tf.GradientTape() as weight_tape:
        norms = tf.stack(norms)
        wanted = tf.stop_gradient(tf.reduce_mean(norms))
        norm_loss = tf.reduce_sum(tf.abs(norms - wanted))
    weight_grad = weight_tape.gradient(norm_loss, task_weights)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    weight_opt.apply_gradients([(weight_grad, task_weights)])
    return total


x = tf.random.normal((32, 6), seed=2)
balance_step(x, x[:, :1], 5.0 * x[:, 1:2])
