# case: sparse_rows_and_unused_words
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: embeddings, most rows of which get no gradient in a step
import keras
import tensorflow as tf

keras.utils.set_random_seed(5)
words = keras.layers.Embedding(100, 4)
context = keras.layers.Embedding(100, 4)
words.build(None), context.build(None)
opt = keras.optimizers.Adagrad(0.5)
variables = words.trainable_variables + context.trainable_variables


@tf.function
def skip_gram(centre, near, far):
    with tf.GradientTape() as tape:
        c = words(centre)
        good = tf.reduce_sum(c * context(near), -1)
        bad = tf.reduce_sum(c * context(far), -1)
        loss = tf.reduce_mean(tf.nn.softplus(-good) + tf.nn.softplus(bad))
    grads = tape.gradient(loss, variables)
    opt.apply_gradients(zip(grads, variables))
    return loss


centre, near, far = tf.constant([1, 1, 2, 3]), tf.constant([4, 5, 4, 6]), tf.constant([9, 9, 8, 7])
losses = [float(skip_gram(centre, near, far)) for _ in range(20)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
