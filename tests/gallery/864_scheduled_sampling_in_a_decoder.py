# case: scheduled_sampling_in_a_decoder
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: the model's own argmax fed back as the next input
import keras
import tensorflow as tf

VOCAB, WIDTH = 8, 6
keras.utils.set_random_seed(1)
embed, cell, logits_of = keras.layers.Embedding(VOCAB, WIDTH), keras.layers.GRUCell(WIDTH), keras.layers.Dense(VOCAB)
embed.build(None), cell.build((None, WIDTH)), logits_of.build((None, WIDTH))
variables = embed.trainable_weights + cell.trainable_weights + logits_of.trainable_weights
opt = keras.optimizers.Adam(0.02)


@tf.function
def step(target, teacher_rate):
    with tf.GradientTape() as tape:
        state = tf.zeros((tf.shape(target)[0], WIDTH))
        token = tf.zeros((tf.shape(target)[0],), tf.int32)
        loss = 0.0
        for t in tf.range(tf.shape(target)[1]):
            out, (state,) = cell(embed(token), [state])
            scores = logits_of(out)
            loss += tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(target[:, t], scores))
            guess = tf.argmax(scores, -1, output_type=tf.int32)
            token = tf.where(tf.random.uniform(()) < teacher_rate, target[:, t], guess)
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


target = tf.constant([[1, 2, 3, 4], [2, 3, 4, 5], [5, 6, 7, 1]])
losses = [float(step(target, 0.7)) for _ in range(20)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
