# case: gradient_norm_report_with_zeros
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
shared = keras.layers.Dense(12, activation="relu", name="shared")
tasks = {"age": keras.layers.Dense(1, name="age"), "city": keras.layers.Dense(4, name="city")}
x = tf.random.normal((40, 6), seed=0)
truth = {"age": tf.reduce_sum(x, 1, keepdims=True), "city": tf.argmax(x[:, :4], 1)}
for head in tasks.values():
    head(shared(x))
everything = shared.trainable_variables + [v for head in tasks.values() for v in head.trainable_variables]
opt = keras.optimizers.Adam(1e-2)


def losses():
    h = shared(x)
    return {"age": tf.reduce_mean(tf.square(tasks["age"](h) - truth["age"])),
            "city": tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(truth["city"], tasks["city"](h)))}


log = []
for step in range(15):
    with tf.GradientTape(persistent=True) as tape:
        parts = losses()
        total = tf.add_n(list(parts.values()))
    # influence of each task on each variable: a head is not touched by the other task, so zeros are wanted here
    table = {name: [float(tf.norm(g)) for g in tape.gradient(part, [v.value for v in everything], unconnected_gradients=tf.UnconnectedGradients.ZERO)]
             for name, part in parts.items()}
    opt.apply_gradients(zip(tape.gradient(total, everything), everything))
    del tape
    log.append(float(total))
assert table["age"][-1] == 0.0 and table["city"][-1] > 0.0 and log[-1] < log[0]
print("ok", log[0], log[-1], table)
