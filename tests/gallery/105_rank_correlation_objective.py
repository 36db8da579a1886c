# case: rank_correlation_objective
# verdict: bug; static: yes
# cause: non-differentiable-op
# expect_line: 23 24
# expect_variables: w
# symptom_today: every gradient is None; the hand-written update raises TypeError
# exit: 1 (TypeError)
# fix: a differentiable rank (pairwise sigmoids) or a pairwise ranking loss
# seen: learning to rank by maximising Spearman's correlation
import tensorflow as tf


class RankNet(tf.Module):
    def __init__(self, features):
        super().__init__()
        self.w = tf.Variable(tf.random.normal((features,), seed=9), name="w")

    def score(self, x):
        return tf.linalg.matvec(x, self.w)


def ranks(values):
    order = tf.argsort(values)
    return tf.cast(tf.argsort(order), values.dtype)


def spearman(a, b):
    a, b = ranks(a), ranks(b)
    a -= tf.reduce_mean(a)
    b -= tf.reduce_mean(b)
    return tf.reduce_sum(a * b) / (tf.norm(a) * tf.norm(b))


ranker = RankNet(3)
x = tf.random.normal((30, 3), seed=1)
relevance = x[:, 0] - 0.5 * x[:, 2]
for epoch in range(2):
    with tf.GradientTape() as tape:
        objective = 1.0 - spearman(ranker.score(x), relevance)
    for g, v in zip(tape.gradient(objective, ranker.trainable_variables), ranker.trainable_variables):
        v.assign_sub(0.1 * g)
