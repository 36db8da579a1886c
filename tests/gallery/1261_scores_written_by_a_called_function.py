# case: scores_written_by_a_called_function
# verdict: bug
# cause: assign-breaks-gradient
# expect_line: 22
# expect_variables: scorer/*
# symptom_today: gradients are None
# exit: 0
# fix: return the scores from the function
# seen: buffers filled by a compiled helper
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
scorer = keras.layers.Dense(1, name="scorer")
x = tf.random.normal((8, 3), seed=1)
scorer(x)
scores = tf.Variable(tf.zeros((8, 1)), trainable=False, name="scores")


@tf.function
def rate(batch):
    scores.assign(scorer(batch))


with tf.GradientTape() as tape:
    rate(x)
    loss = tf.reduce_mean((scores - 1.0) ** 2)
gradients = tape.gradient(loss, scorer.trainable_variables)
assert gradients == [None, None]
