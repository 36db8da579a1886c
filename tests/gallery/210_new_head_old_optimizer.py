# case: new_head_old_optimizer
# verdict: bug; static: no
# cause: optimizer-variable-mismatch
# expect_line: 26
# expect_variables: head_b/*
# symptom_today: raises ValueError: Unknown variable
# exit: 1 (ValueError)
# fix: a new optimizer (or one for each head) when the head is exchanged
# seen: continual learning, a head for each task
import keras
import tensorflow as tf

trunk = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(6, activation="relu")], name="trunk")
heads = {name: keras.layers.Dense(2, name=name) for name in ("head_a", "head_b")}
for head in heads.values():
    head.build((None, 6))
optimizer = keras.optimizers.Adam(1e-2)


@tf.autograph.experimental.do_not_convert
def learn(task, x, y):
    head = heads[task]
    weights = trunk.trainable_weights + head.trainable_weights
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((head(trunk(x)) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return float(loss)


x = tf.random.normal((10, 5), seed=6)
for task, y in {"head_a": x[:, :2], "head_b": x[:, 2:4]}.items():
    for _ in range(2):
        print(task, learn(task, x, y))
