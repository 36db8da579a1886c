# case: every_update_skipped_behind_a_finite_loss
# verdict: bug
# cause: nan-norm | nan-sqrt
# expect_line: 21 22
# expect_variables: dense/*
# symptom_today: the loss is finite and never changes; no update is ever made
# exit: 0
# fix: add a small number inside of the root
import keras
import tensorflow as tf

keras.utils.set_random_seed(3)
embed = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, activation="relu")])
optimizer = keras.optimizers.Adam(0.01)
optimizer.build(embed.trainable_variables)


@tf.function
def train(first, second):
    with tf.GradientTape() as tape:
        apart = embed(first) - embed(second)
        distance = tf.sqrt(tf.reduce_sum(apart * apart, axis=-1))
        loss = tf.reduce_mean(tf.nn.relu(1.0 - distance))
    gradients = tape.gradient(loss, embed.trainable_variables)
    if tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in gradients]):
        optimizer.apply_gradients(zip(gradients, embed.trainable_variables))
    return loss


rows = tf.random.normal((6, 4), seed=1)
others = tf.concat([rows[:1], tf.random.normal((5, 4), seed=2)], 0)
losses = [float(train(rows, others)) for _ in range(8)]
assert len(set(losses)) == 1
