# case: listing_price_by_bucket_embedding
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 29
# expect_variables: w_score, b_score
# symptom_today: silent: no warning, no None; w_score and b_score only shrink, the price is fitted by the table alone
# exit: 0
# fix: interpolate between neighbouring rows with the fractional part of the score instead of casting it to an index
# seen: terms of the loss: error (cut from w_score, b_score), 1e-3 * decay (reaches all)
import numpy as np
import tensorflow as tf

tf.random.set_seed(3)
BUCKETS = 12


class PriceModel(tf.Module):
    def __init__(self, features):
        super().__init__()
        init = tf.random.Generator.from_seed(3)
        self.w_score = tf.Variable(init.normal((features, 1)) * 0.8, name="w_score")
        self.b_score = tf.Variable([6.0], name="b_score")
        self.table = tf.Variable(init.normal((BUCKETS, 4)) * 0.3, name="table")
        self.w_out = tf.Variable(init.normal((4, 1)) * 0.5, name="w_out")
        self.b_out = tf.Variable([0.1], name="b_out")

    def __call__(self, x):
        score = tf.squeeze(x @ self.w_score + self.b_score, -1)
        bucket = tf.cast(tf.clip_by_value(score, 0.0, BUCKETS - 1.0), tf.int32)
        rows = tf.gather(self.table, bucket)
        return tf.squeeze(tf.tanh(rows) @ self.w_out + self.b_out, -1)


def decay(weights):
    return tf.add_n([tf.nn.l2_loss(w) for w in weights])


rng = np.random.default_rng(3)
x = tf.constant(rng.normal(size=(96, 5)), tf.float32)
price = tf.constant(x.numpy() @ np.array([1.0, -2.0, 0.5, 0.0, 0.3]), tf.float32)
model = PriceModel(5)
start = model.w_score.numpy()
for step in range(15):
    with tf.GradientTape() as tape:
        error = tf.reduce_mean(tf.square(model(x) - price))
        loss = error + 1e-3 * decay(model.trainable_variables)
    grads = tape.gradient(loss, model.trainable_variables)
    for g, v in zip(grads, model.trainable_variables):
        v.assign_sub(0.1 * tf.convert_to_tensor(g))
    if step % 5 == 0:
        print(step, float(error))
ratio = model.w_score.numpy() / start
print("every weight of the score shrank alike:", ratio.ravel())
assert np.allclose(ratio, ratio[0], atol=1e-4) and ratio[0] < 1
