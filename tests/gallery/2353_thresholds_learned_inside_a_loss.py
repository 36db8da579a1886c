# case: ordinal_loss_cutpoints
# verdict: bug
# cause: untracked-variable
# expect_line: 26 53 55
# expect_variables: cutpoints
# symptom_today: the loss falls (the score is trained), but the cutpoints printed after fit are exactly the ones they started with
# exit: 0
# fix: give the cutpoints to the model (add_weight in a layer or the model) and let the loss use that variable
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(21)
N_CLASSES = 5


class OrdinalLoss(keras.losses.Loss):
    """All-threshold logistic loss for ratings 0..K-1.

    The model gives one score; the cutpoints between the ratings are learned along with it.
    """

    def __init__(self, n_classes, name="ordinal"):
        super().__init__(name=name)
        self.cutpoints = keras.Variable(np.linspace(-1.0, 1.0, n_classes - 1), dtype="float32",
                                        trainable=True, name="cutpoints")
        self.levels = tf.range(n_classes - 1, dtype=tf.float32)

    def call(self, y_true, y_pred):
        logits = y_pred - self.cutpoints[None, :]            # (batch, K-1)
        above = tf.cast(tf.cast(y_true, tf.float32) > self.levels[None, :], tf.float32)
        ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=above, logits=logits)
        return tf.reduce_mean(ce, axis=-1)


# reviews: a few numeric features and a product category; rating from 0 to 4
n = 640
category = np.random.randint(0, 6, n)
feats = np.random.normal(size=(n, 5)).astype("float32")
quality = np.array([-0.8, -0.3, 0.0, 0.3, 0.6, 1.0])[category]
latent = quality + feats @ np.array([0.9, -0.6, 0.4, 0.0, 0.2]) + 0.3 * np.random.logistic(size=n)
rating = np.digitize(latent, [-2.2, -0.3, 0.1, 2.0]).astype("float32")[:, None]

cat_in = keras.Input((), dtype="int32", name="category")
num_in = keras.Input((5,), name="features")
e = layers.Embedding(6, 4, name="category_vec")(cat_in)
h = layers.Concatenate()([e, num_in])
h = layers.Dense(24, activation="tanh")(h)
score = layers.Dense(1, name="score")(h)
model = keras.Model([cat_in, num_in], score)

loss = OrdinalLoss(N_CLASSES)
print("cutpoints at the start:", loss.cutpoints.numpy())
model.compile(keras.optimizers.Adam(1e-2), loss=loss)
hist = model.fit([category, feats], rating, batch_size=64, epochs=15, verbose=0)
print("loss:", np.round(hist.history["loss"][::3], 4))
print("cutpoints after fit:   ", loss.cutpoints.numpy())

s = model.predict([category, feats], verbose=0)
pred = (s > loss.cutpoints.numpy()[None]).sum(axis=1)
print("mean absolute error in stars: %.3f" % np.abs(pred - rating[:, 0]).mean())
