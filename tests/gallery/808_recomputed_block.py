# case: recomputed_block
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: gradient checkpointing
import tensorflow as tf


class Block(tf.Module):
    def __init__(self, width, seed):
        super().__init__()
        self.w = tf.Variable(tf.random.normal((width, width), stddev=0.3, seed=seed), name="w")

    def __call__(self, x):
        return x + tf.tanh(x @ self.w)


blocks = [Block(4, s) for s in range(3)]
cheap = [tf.recompute_grad(b.__call__) for b in blocks]
variables = [b.w for b in blocks]
x = tf.random.normal((8, 4), seed=9)


def run(stack):
    with tf.GradientTape() as tape:
        h = x
        for f in stack:
            h = f(h)
        loss = tf.reduce_mean(h**2)
    return tape.gradient(loss, variables)


for a, b in zip(run(blocks), run(cheap)):
    assert float(tf.reduce_max(tf.abs(a - b))) < 1e-5
for v, g in zip(variables, run(cheap)):
    v.assign_sub(0.1 * g)
print("same gradients")
