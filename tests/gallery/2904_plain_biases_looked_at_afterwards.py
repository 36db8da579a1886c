# case: plain_biases_looked_at_afterwards
# verdict: bug
# cause: untracked-variable
# expect_line: 36  37  38  44  45
# expect_variables: user_bias, item_bias, global_mean
# symptom_today: training runs and the loss falls, the three biases keep their starting values and are not in the summary
# exit: 0
# fix: create them with self.add_weight(...)
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(8)
N_USERS, N_ITEMS, DIM = 60, 40, 4


def synth_ratings(n=1600, seed=8):
    rng = np.random.default_rng(seed)
    user = rng.integers(0, N_USERS, n)
    item = rng.integers(0, N_ITEMS, n)
    p, q = rng.normal(size=(N_USERS, DIM)), rng.normal(size=(N_ITEMS, DIM))
    bu, bi = rng.normal(size=N_USERS), 0.8 * rng.normal(size=N_ITEMS)
    rating = 3.2 + bu[user] + bi[item] + 0.15 * np.sum(p[user] * q[item], axis=1)
    return {"user": user.astype("int32"), "item": item.astype("int32")}, rating.astype("float32")[:, None]


class BiasedInteraction(layers.Layer):
    """dot product of two embeddings plus the biases of Koren's model"""

    def __init__(self, n_users, n_items, **kwargs):
        super().__init__(**kwargs)
        self.n_users, self.n_items = n_users, n_items

    def build(self, input_shape):
        self.user_bias = tf.Variable(tf.zeros([self.n_users]), name="user_bias")
        self.item_bias = tf.Variable(tf.zeros([self.n_items]), name="item_bias")
        self.global_mean = tf.Variable(0.0, name="global_mean")
        super().build(input_shape)

    def call(self, inputs):
        user, item, p, q = inputs
        dot = tf.reduce_sum(p * q, axis=-1)
        bias = tf.gather(self.user_bias, user) + tf.gather(self.item_bias, item)
        return tf.expand_dims(dot + bias + self.global_mean, -1)


def build_model():
    user = keras.Input((), dtype="int32", name="user")
    item = keras.Input((), dtype="int32", name="item")
    p = layers.Embedding(N_USERS, DIM, name="user_factors")(user)
    q = layers.Embedding(N_ITEMS, DIM, name="item_factors")(item)
    rating = BiasedInteraction(N_USERS, N_ITEMS, name="interaction")([user, item, p, q])
    return keras.Model({"user": user, "item": item}, rating, name="koren")


features, ratings = synth_ratings()
model = build_model()
model.compile(
    optimizer=keras.optimizers.Adam(0.03),
    loss="mse",
    metrics=[keras.metrics.RootMeanSquaredError(name="rmse")],
    jit_compile=False,
)
history = model.fit(
    features, ratings,
    batch_size=128,
    epochs=8,
    validation_split=0.15,
    callbacks=[keras.callbacks.EarlyStopping("val_rmse", patience=4, restore_best_weights=True)],
    verbose=0,
).history
print("rmse", round(history["rmse"][0], 3), "->", round(history["rmse"][-1], 3))

interaction = model.get_layer("interaction")
biases = [interaction.user_bias, interaction.item_bias, interaction.global_mean]
print([v.path.split("/")[-2:] for v in model.trainable_variables])
assert history["loss"][-1] < history["loss"][0]
assert len(model.trainable_variables) == 2
assert all(not np.any(b.numpy()) for b in biases)

with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(model(features) - ratings))
assert all(g is not None for g in tape.gradient(loss, biases))
