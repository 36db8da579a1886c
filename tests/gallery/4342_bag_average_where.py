# case: bag_average_where
# verdict: bug
# cause: nan-where | nan-division
# expect_line: 29
# expect_variables: -
# symptom_today: a division in the branch of tf.where that is not taken still gives NaN gradients
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(8)
ITEMS, DIM = 40, 8


class BagRecommender(tf.Module):
    def __init__(self):
        super().__init__()
        rng = tf.random.Generator.from_seed(2)
        self.items = tf.Variable(rng.normal((ITEMS, DIM), stddev=0.1), name="items")
        self.out = tf.Variable(rng.normal((DIM, 1), stddev=0.1), name="out")

    def pooled(self, bags):
        present = tf.cast(bags > 0, tf.float32)
        count = tf.reduce_sum(present, axis=1, keepdims=True)
        vectors = tf.gather(self.items, bags) * present[..., None]
        summed = tf.reduce_sum(vectors, axis=1)
        return tf.where(count > 0.0, summed / count, tf.zeros_like(summed))

    def __call__(self, bags):
        return tf.matmul(self.pooled(bags), self.out)[:, 0]


def histories(n=160, longest=5):
    rng = np.random.default_rng(1)
    bags = rng.integers(1, ITEMS, size=(n, longest))
    lengths = rng.integers(0, longest + 1, size=n)
    bags[np.arange(longest)[None, :] >= lengths[:, None]] = 0
    rating = np.where(bags > 20, 1.0, -1.0).mean(axis=1)
    return bags.astype("int32"), rating.astype("float32")


model = BagRecommender()
optimizer = keras.optimizers.Adam(0.02)


@tf.function
def train_step(bags, rating):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(bags) - rating))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


bags, rating = histories()
for epoch in range(3):
    for b, r in tf.data.Dataset.from_tensor_slices((bags, rating)).batch(40):
        loss = train_step(b, r)
    print(epoch, float(loss))
