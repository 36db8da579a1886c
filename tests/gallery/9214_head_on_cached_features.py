# case: head_on_cached_features
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
backbone = keras.Sequential([keras.layers.Input((16, 16, 3)), keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
                             keras.layers.GlobalAveragePooling2D()], name="backbone")
rng = np.random.default_rng(0)
images = rng.uniform(size=(48, 16, 16, 3)).astype("float32")
labels = (images[..., 0].mean((1, 2)) > images[..., 1].mean((1, 2))).astype("float32")[:, None]

features = backbone.predict(images, batch_size=16, verbose=0)        # fixed feature extractor: computed once, not trained
features = (features - features.mean(0)) / (features.std(0) + 1e-6)
head = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)], name="head")
opt = keras.optimizers.Adam(2e-2)
losses = []
for batch in tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(48, seed=0).batch(16).repeat(15):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=batch[1], logits=head(batch[0])))
    opt.apply_gradients(zip(tape.gradient(loss, head.trainable_variables), head.trainable_variables))
    losses.append(float(loss))
assert np.mean(losses[-3:]) < np.mean(losses[:3])
print("ok", losses[0], losses[-1])
