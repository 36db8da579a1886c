# case: regional_claims_clip
# verdict: bug
# cause: accumulation-clip-per-microbatch
# expect_line: 52
# expect_variables: claim_weights, claim_intercept
# symptom_today: no warning; the loss rises and settles too high, the predicted number of claims is about a quarter of the observed one
# exit: 0
# fix: add up and average first, then one clip_by_global_norm before apply_gradients
# source: huggingface/transformers#1563, NVIDIA/DeepLearningExamples#713
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(8)
REGIONS = ["north", "east", "south", "coast"]
BASE_RATE = {"north": 0.3, "east": 0.4, "south": 0.5, "coast": 7.0}


def policies(region, n=48):
    x = np.random.normal(size=(n, 3)).astype("float32")
    rate = BASE_RATE[region] * np.exp(0.2 * x[:, 0] - 0.1 * x[:, 1])
    return tf.constant(x), tf.constant(np.random.poisson(rate).astype("float32"))


class ClaimCounter(tf.Module):
    """Poisson regression with a log link."""

    def __init__(self, n_features):
        super().__init__()
        self.w = tf.Variable(tf.zeros([n_features]), name="claim_weights")
        self.b = tf.Variable(0.0, name="claim_intercept")

    def log_rate(self, x):
        return tf.linalg.matvec(x, self.w) + self.b


book = [policies(r) for r in REGIONS]
model = ClaimCounter(3)
optimizer = keras.optimizers.SGD(0.1)
optimizer.build(model.trainable_variables)


@tf.function
def update(batches):
    variables = model.trainable_variables
    totals = [tf.zeros_like(v) for v in variables]
    losses = []
    for x, y in batches:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.log_poisson_loss(y, model.log_rate(x)))
        grads = tape.gradient(loss, variables)
        grads, _ = tf.clip_by_global_norm(grads, 0.5)
        totals = [t + g for t, g in zip(totals, grads)]
        losses.append(loss)
    averaged = [t / len(batches) for t in totals]
    optimizer.apply_gradients(zip(averaged, variables))
    return tf.add_n(losses) / len(losses)


for step in range(300):
    loss = update(book)
    if step % 60 == 0:
        print(f"step {step:3d} loss {float(loss):.4f}")

observed = sum(float(tf.reduce_sum(y)) for _, y in book)
expected = sum(float(tf.reduce_sum(tf.exp(model.log_rate(x)))) for x, _ in book)
print(f"claims observed {observed:.0f}, predicted {expected:.0f}")
