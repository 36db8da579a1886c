# case: coin_tossed_while_tracing
# verdict: bug; static: yes
# cause: python-state-in-graph
# expect_line: 26 35
# expect_variables: -
# symptom_today: silent: the coin was tossed once; every step is teacher-forced (or none)
# exit: 0
# fix: tf.random.uniform(()) < ratio and tf.cond / tf.where
# seen: scheduled sampling in translated notebooks
import random

import keras
import tensorflow as tf

random.seed(4)
VOCAB = 12
embed = keras.layers.Embedding(VOCAB, 8)
cell = keras.layers.GRUCell(16)
project = keras.layers.Dense(VOCAB)
opt = keras.optimizers.Adam(1e-3)
tosses = []


@tf.function
def train_step(sentence, teacher_forcing_ratio=0.5):
    use_teacher = random.random() < teacher_forcing_ratio
    tosses.append(use_teacher)
    loss = 0.0
    with tf.GradientTape() as tape:
        state, word = tf.zeros((sentence.shape[0], 16)), sentence[:, 0]
        for t in range(1, sentence.shape[1]):
            state, _ = cell(embed(word), [state])
            logits = project(state)
            loss += tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(sentence[:, t], logits))
            word = sentence[:, t] if use_teacher else tf.argmax(logits, -1, output_type=tf.int32)
    variables = embed.trainable_variables + cell.trainable_variables + project.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


sentences = tf.random.uniform((8, 5), 0, VOCAB, dtype=tf.int32, seed=1)
for epoch in range(12):
    train_step(sentences)
print(len(tosses), tosses)
assert len(tosses) <= 2
