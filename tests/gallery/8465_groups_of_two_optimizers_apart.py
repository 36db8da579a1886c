# case: groups_taken_once
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: the loss goes down, every variable moves once in a step
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(22)

x = np.random.normal(size=(320, 10)).astype("float32")
y = (np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] > 0.2).astype("float32")[:, None]

inp = keras.Input((10,))
h = keras.layers.Dense(32, activation="tanh", name="block_0")(inp)
h = keras.layers.Dense(32, activation="tanh", name="block_1")(h)
h = keras.layers.Dense(32, activation="tanh", name="block_2")(h)
out = keras.layers.Dense(1, name="head")(h)
model = keras.Model(inp, out)
top = keras.Model(model.get_layer("block_2").input, model.output)     # shares its layers with model


def split_groups(rules, variables):
    """First rule that fits wins, so a variable is in one group only."""
    groups, taken = {name: [] for name in rules}, set()
    for name, fits in rules.items():
        for v in variables:
            if fits(v.path) and id(v) not in taken:
                groups[name].append(v)
                taken.add(id(v))
    assert len(taken) == len(variables)
    return groups


# the second rule fits block_2 as well, but it comes too late
groups = split_groups(
    {"fast": lambda p: "block_2" in p or "head" in p, "slow": lambda p: "block" in p},
    model.trainable_variables,
)
assert {id(v) for v in groups["fast"]} == {id(v) for v in top.trainable_variables}
optimizers = {"fast": keras.optimizers.Adam(3e-3), "slow": keras.optimizers.Adam(1e-3)}
for name in groups:
    optimizers[name].build(groups[name])
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = bce(yb, model(xb, training=True))
    grads = tape.gradient(loss, groups)              # a dict of lists in, a dict of lists out
    for name in groups:
        optimizers[name].apply_gradients(zip(grads[name], groups[name]))
    return loss


data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(320, seed=1).batch(32)
before = [v.numpy() for v in model.trainable_variables]
for epoch in range(7):
    total, n = 0.0, 0
    for xb, yb in data:
        total += float(step(xb, yb))
        n += 1
        if epoch == 0 and n == 1:
            for v, old in zip(model.trainable_variables, before):
                print(f"   first step moved {v.path:16s} by {np.abs(v.numpy() - old).max():.4f}")
    print(f"epoch {epoch}  loss {total / n:.4f}")
