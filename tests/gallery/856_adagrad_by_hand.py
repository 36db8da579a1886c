# case: adagrad_by_hand
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: optimisers whose state grows for ever by design
import tensorflow as tf

weights = [tf.Variable(tf.random.normal((4, 3), seed=1), name="a"), tf.Variable(tf.zeros((3,)), name="b")]
squares = [tf.Variable(tf.zeros_like(w), trainable=False) for w in weights]
speeds = [tf.Variable(tf.zeros_like(w), trainable=False) for w in weights]


def step(x, y, rate=0.3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.tanh(x @ weights[0]) + weights[1] - y) ** 2)
    for w, s, m, g in zip(weights, squares, speeds, tape.gradient(loss, weights)):
        s.assign_add(g * g)
        m.assign(0.5 * m + g)
        w.assign_sub(rate * m / (tf.sqrt(s) + 1e-7))
    return float(loss)


x = tf.random.normal((20, 4), seed=2)
losses = [step(x, x[:, :3]) for _ in range(15)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
