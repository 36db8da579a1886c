# case: fitted_bumps
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: as many basis functions as samples: (8, 1) against (8,) is meant
import tensorflow as tf

centres = tf.Variable(tf.linspace(-1.0, 1.0, 8), name="centres")
heights = tf.Variable(tf.zeros((8,)), name="heights")
x = tf.reshape(tf.linspace(-0.9, 0.9, 8), (8, 1))
y = tf.sin(3.0 * x[:, 0])


def bumps(points):
    return tf.nn.relu(1.0 - 2.0 * tf.abs(points - centres))


@tf.function
def step(rate):
    with tf.GradientTape() as tape:
        prediction = tf.reduce_sum(bumps(x) * heights, axis=-1)
        loss = tf.reduce_mean((prediction - y) ** 2)
    for v, g in zip([centres, heights], tape.gradient(loss, [centres, heights])):
        v.assign_sub(rate * g)
    return loss


losses = [float(step(0.3)) for _ in range(30)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
