# case: gradients_reported_for_parts_that_may_be_unused
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: per-loss gradient norms in a multi-task loop, zeros where a task does not touch a part
import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
trunk = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(12, activation="relu")], name="trunk")
heads = {"price": keras.layers.Dense(1, name="price"), "kind": keras.layers.Dense(3, name="kind")}
for head in heads.values():
    head.build((None, 12))
opt = keras.optimizers.Adam(0.01)
variables = trunk.trainable_variables + [v for h in heads.values() for v in h.trainable_variables]


@tf.function
def step(x, price, kind):
    with tf.GradientTape(persistent=True) as tape:
        h = trunk(x, training=True)
        losses = {
            "price": tf.reduce_mean((heads["price"](h) - price) ** 2),
            "kind": tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(kind, heads["kind"](h))),
        }
        total = tf.add_n(list(losses.values()))
    report = {}
    for name, loss in losses.items():
        grads = tape.gradient(loss, [v.value for v in variables], unconnected_gradients="zero")
        report[name] = tf.linalg.global_norm(grads)
    opt.apply_gradients(zip(tape.gradient(total, variables), variables))
    del tape
    return total, report


x = tf.random.normal((40, 5), seed=7)
price, kind = x[:, :1] * 2.0, tf.argmax(x[:, :3], axis=1)
results = [step(x, price, kind) for _ in range(15)]
print({k: float(v) for k, v in results[-1][1].items()})
assert results[-1][0] < results[0][0]
