# case: learned_inner_rate_set_weights
# verdict: bug; static: no
# cause: assign-breaks-gradient | numpy-escape
# expect_line: 28
# expect_variables: log_rate
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: run the learner functionally with the adapted tensors (keras stateless_call) instead of set_weights
# source: tensorflow/tensorflow#53541 = keras-team/keras#15836 (set_weights breaks the gradient)
import tensorflow as tf
import keras

keras.utils.set_random_seed(6)
learner = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
log_rate = tf.Variable(-3.0, name="log_rate")
meta_opt = keras.optimizers.Adam(0.1)


def mse(x, y):
    return tf.reduce_mean(tf.square(learner(x) - y))


def adapted_query_loss(support, query):
    with tf.GradientTape() as inner:
        loss = mse(*support)
    grads = inner.gradient(loss, learner.trainable_variables)
    rate = tf.exp(log_rate)
    learner.set_weights([w - rate * g for w, g in zip(learner.trainable_variables, grads)])
    return mse(*query)


def make_task(seed):
    x = tf.random.normal((20, 3), seed=seed)
    y = tf.reduce_sum(x, axis=1, keepdims=True)
    return (x[:10], y[:10]), (x[10:], y[10:])


for task in range(3):
    theta = learner.get_weights()
    with tf.GradientTape() as outer:
        loss = adapted_query_loss(*make_task(task))
    learner.set_weights(theta)
    grad = outer.gradient(loss, log_rate)
    print(task, float(loss), grad)
    meta_opt.apply_gradients([(grad, log_rate)])
