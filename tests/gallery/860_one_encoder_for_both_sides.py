# case: one_encoder_for_both_sides
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: siamese networks that share their weights under two names
import keras
import tensorflow as tf

keras.utils.set_random_seed(6)
query_encoder = keras.Sequential([keras.layers.Input((7,)), keras.layers.Dense(6, activation="relu"), keras.layers.Dense(4)])
document_encoder = query_encoder
opt = keras.optimizers.Adam(0.01)


@tf.function
def step(queries, documents):
    with tf.GradientTape() as tape:
        q = tf.math.l2_normalize(query_encoder(queries), -1)
        d = tf.math.l2_normalize(document_encoder(documents), -1)
        scores = tf.matmul(q, d, transpose_b=True) / 0.2
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(12), scores))
    grads = tape.gradient(loss, query_encoder.trainable_variables)
    opt.apply_gradients(zip(grads, query_encoder.trainable_variables))
    return loss


documents = tf.random.normal((12, 7), seed=6)
losses = [float(step(documents + 0.1 * tf.random.normal((12, 7), seed=7), documents)) for _ in range(15)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
