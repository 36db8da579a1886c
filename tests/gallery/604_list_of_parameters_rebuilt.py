# case: list_of_parameters_rebuilt
# verdict: bug; static: yes
# cause: variable-rebound | unwatched-source
# expect_line: 30
# expect_variables: hidden, out
# symptom_today: the second epoch raises TypeError: the gradients are None
# exit: 1 (TypeError)
# fix: for p, g in zip(params, grads): p.assign_sub(rate * g)
# seen: code translated from JAX or NumPy
import tensorflow as tf

params = [tf.Variable(tf.random.normal((3, 4), seed=1), name="hidden"), tf.Variable(tf.zeros((4, 1)), name="out")]


def forward(params, x):
    hidden, out = params
    return tf.matmul(tf.nn.relu(tf.matmul(x, hidden)), out)


def loss_and_grads(params, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((forward(params, x) - y) ** 2)
    return loss, tape.gradient(loss, params)


x = tf.random.normal((30, 3), seed=2)
y = tf.reduce_sum(x, axis=1, keepdims=True)
for epoch in range(3):
    loss, grads = loss_and_grads(params, x, y)
    params = [p - 0.1 * g for p, g in zip(params, grads)]
    print(epoch, float(loss))
