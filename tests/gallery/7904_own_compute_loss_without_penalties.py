# case: own_compute_loss_without_penalties
# verdict: bug
# cause: missing-loss-term
# expect_line: 51  49  48  31  32  30
# expect_variables: wide/kernel, deep/kernel
# symptom_today: the weight decay has no effect: the trained weights are the same to the last bit with and without it
# exit: 0
# fix: return self.focal(...) + sum(self.losses)
import numpy as np
import tensorflow as tf
import keras
from keras import layers, regularizers

SEED = 5
PARAMS = {"gamma": 2.0, "alpha": 0.75, "l2": 0.02, "epochs": 4, "batch_size": 64, "lr": 2e-3}


def make_fraud_table(n=640, d=14, seed=SEED):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)).astype("float32")
    score = 1.4 * x[:, 0] - x[:, 1] * x[:, 2] + 0.6 * rng.normal(size=n)
    y = (score > np.quantile(score, 0.88)).astype("float32")[:, None]
    return x, y


class FraudNet(keras.Model):
    def __init__(self, gamma, alpha, l2, **kwargs):
        super().__init__(**kwargs)
        self.gamma, self.alpha = gamma, alpha
        reg = regularizers.L2(l2) if l2 else None
        self.wide = layers.Dense(48, activation="relu", kernel_regularizer=reg, name="wide")
        self.deep = layers.Dense(24, activation="relu", kernel_regularizer=reg, name="deep")
        self.drop = layers.Dropout(0.1, seed=SEED)
        self.score = layers.Dense(1, name="score")
        self.focal_tracker = keras.metrics.Mean(name="focal")

    def call(self, x, training=False):
        h = self.drop(self.wide(x), training=training)
        return self.score(self.deep(h))

    def focal(self, y, logits):
        ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits)
        p = tf.sigmoid(logits)
        p_t = y * p + (1.0 - y) * (1.0 - p)
        a_t = y * self.alpha + (1.0 - y) * (1.0 - self.alpha)
        return tf.reduce_mean(a_t * tf.pow(1.0 - p_t, self.gamma) * ce)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        loss = self.focal(y, y_pred)
        self.focal_tracker.update_state(loss)
        return loss


def run(l2):
    keras.utils.set_random_seed(SEED)
    x, y = make_fraud_table()
    model = FraudNet(PARAMS["gamma"], PARAMS["alpha"], l2)
    model.compile(
        optimizer=keras.optimizers.Adam(PARAMS["lr"]),
        metrics=[keras.metrics.AUC(from_logits=True, name="auc")],
        jit_compile=False,
    )
    history = model.fit(x, y, epochs=PARAMS["epochs"], batch_size=PARAMS["batch_size"], shuffle=False, verbose=0)
    return model, history.history


regularised, log = run(PARAMS["l2"])
print({k: round(v[-1], 4) for k, v in log.items()})
penalty = float(tf.add_n(regularised.losses))
print("penalty of the regularisers:", penalty)
assert log["loss"][-1] < log["loss"][0]
assert penalty > 0.1

plain, _ = run(0.0)
for a, b in zip(regularised.trainable_variables, plain.trainable_variables):
    np.testing.assert_array_equal(a.numpy(), b.numpy())
