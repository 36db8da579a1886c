# case: one_optimizer_for_each_part
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: slow backbone, fast head
import keras
import tensorflow as tf

keras.utils.set_random_seed(8)
backbone = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(4)])
head = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
groups = [
    (keras.optimizers.SGD(1e-3, momentum=0.9), backbone.trainable_variables),
    (keras.optimizers.Adam(1e-2), head.trainable_variables),
]


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((head(backbone(x)) - y) ** 2)
    flat = [v for _, group in groups for v in group]
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, flat), 1.0)
    start = 0
    for opt, group in groups:
        opt.apply_gradients(zip(grads[start : start + len(group)], group))
        start += len(group)
    return loss


for opt, group in groups:
    opt.build(group)
x = tf.random.normal((40, 6), seed=2)
losses = [float(step(x, x[:, :1])) for _ in range(15)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
