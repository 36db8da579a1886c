# case: model_factory_inside_the_step
# verdict: bug; static: yes
# cause: variable-recreated
# expect_line: 17 20 21 28
# expect_variables: sequential*/dense*/kernel, sequential*/dense*/bias (all of net)
# symptom_today: silent: every batch starts from new random weights, the loss does not fall
# exit: 0
# fix: call make_net once, before the loop
# seen: notebook code moved into a step function together with the line that makes the model
import keras
import tensorflow as tf

seen_kernels = set()


def make_net(width=8, **kwargs):
    return keras.Sequential(
        [
            keras.layers.Input((4,)),
            keras.layers.Dense(width, activation="relu"),
            keras.layers.Dense(1),
        ],
        **kwargs,
    )


def train_step(x, y):
    net = make_net(width=6)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
    for g, v in zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables):
        v.assign_sub(0.05 * g)
    seen_kernels.add(float(net.trainable_variables[0][0, 0]))
    return loss


x = tf.random.normal((48, 4), seed=0)
y = tf.reduce_sum(x, axis=1, keepdims=True)
for step, batch in enumerate(tf.data.Dataset.from_tensor_slices((x, y)).batch(8)):
    print(step, float(train_step(*batch)))
assert len(seen_kernels) == 6
