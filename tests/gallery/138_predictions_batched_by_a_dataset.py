# case: predictions_batched_by_a_dataset
# verdict: bug; static: yes
# cause: state-boundary
# expect_line: 19 26
# expect_variables: embed/*
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: feed the raw inputs through tf.data and call the model on what comes out
# seen: re-batching model outputs with tf.data before the loss
import keras
import tensorflow as tf

embed = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(4)], name="embed")
opt = keras.optimizers.Adam()
x = tf.random.normal((12, 8), seed=3)


def pairs(vectors, size):
    dataset = tf.data.Dataset.from_tensor_slices(vectors)
    return dataset.batch(size, drop_remainder=True)


with tf.GradientTape() as tape:
    vectors = tf.math.l2_normalize(embed(x), axis=-1)
    losses = []
    for left, right in pairs(vectors, size=2):
        losses.append(tf.reduce_sum(left * right))
    loss = tf.reduce_mean(tf.stack(losses))
grads = tape.gradient(loss, embed.trainable_variables)
opt.apply_gradients(zip(grads, embed.trainable_variables))
