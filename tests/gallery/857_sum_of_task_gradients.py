# case: sum_of_task_gradients
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: one gradient for each task, projected and added (gradient surgery)
import keras
import tensorflow as tf

keras.utils.set_random_seed(3)
trunk = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(3)])
opt = keras.optimizers.Adam(0.01)
variables = trunk.trainable_variables


def dot(a, b):
    return tf.add_n([tf.reduce_sum(i * j) for i, j in zip(a, b)])


def surgery(per_task):
    fixed = []
    for i, mine in enumerate(per_task):
        g = list(mine)
        for j, other in enumerate(per_task):
            overlap = dot(g, other)
            if i != j and overlap < 0:
                g = [a - overlap / dot(other, other) * b for a, b in zip(g, other)]
        fixed.append(g)
    return [tf.add_n(list(parts)) for parts in zip(*fixed)]


x = tf.random.normal((30, 6), seed=3)
targets = [x[:, :1], -x[:, :1] * 0.5, x[:, 1:2] * x[:, 2:3]]
history = []
for _ in range(15):
    with tf.GradientTape(persistent=True) as tape:
        out = trunk(x, training=True)
        losses = [tf.reduce_mean((out[:, k : k + 1] - t) ** 2) for k, t in enumerate(targets)]
    per_task = [tape.gradient(loss, variables) for loss in losses]
    del tape
    opt.apply_gradients(zip(surgery(per_task), variables))
    history.append(sum(float(v) for v in losses))
print(history[0], history[-1])
assert history[-1] < history[0]
