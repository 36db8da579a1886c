# case: loop_name_bound_to_a_tensor
# verdict: bug; static: yes
# cause: variable-rebound | never-updated
# expect_line: 34
# expect_variables: w0, b0, w1, b1
# symptom_today: silent: nothing is updated, the loss is the same in every epoch
# exit: 0
# fix: param.assign_sub(rate * grad)
# seen: gradient descent typed from the formula in a for loop over parameters
import tensorflow as tf


def initialise(sizes, seed=0):
    params = []
    for i, (n_in, n_out) in enumerate(zip(sizes[:-1], sizes[1:])):
        params.append(tf.Variable(tf.random.normal((n_in, n_out), stddev=0.5, seed=seed + i), name=f"w{i}"))
        params.append(tf.Variable(tf.zeros((n_out,)), name=f"b{i}"))
    return params


def forward(params, x):
    for w, b in zip(params[0:-2:2], params[1:-2:2]):
        x = tf.nn.relu(x @ w + b)
    return x @ params[-2] + params[-1]


def train(params, x, y, epochs=5, rate=0.05):
    history = []
    for _ in range(epochs):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(forward(params, x) - y))
        grads = tape.gradient(loss, params)
        for param, grad in zip(params, grads):
            param = param - rate * grad
        history.append(float(loss))
    return history


x = tf.random.normal((40, 3), seed=9)
history = train(initialise([3, 8, 1]), x, tf.reduce_sum(x, axis=1, keepdims=True))
print(history)
assert len(set(history)) == 1
