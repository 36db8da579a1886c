# case: layers_thawed_under_a_frozen_model
# verdict: bug
# cause: frozen-by-flag
# expect_line: 25 26 27
# expect_variables: embed/kernel, embed/bias, conv_b/kernel, conv_b/bias
# symptom_today: silent: the layers that were set to trainable do not move, only the new head is trained
# exit: 0
# fix: facenet.trainable = True first, then set the early layers to trainable = False
# source: keras-team/keras#13587 (trainable=True, trainable params doesn't change; "I just needed to set model.trainable = True")
import numpy as np
import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
people = rng.integers(0, 3, size=96)
faces = (rng.uniform(0, 1, size=(3, 16, 16, 1))[people] + 0.1 * rng.normal(size=(96, 16, 16, 1))).astype("float32")

facenet = keras.Sequential([
    keras.layers.Conv2D(8, 3, strides=2, activation="relu", input_shape=(16, 16, 1), name="conv_a"),
    keras.layers.Conv2D(16, 3, strides=2, activation="relu", name="conv_b"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(32, activation="relu", name="embed")], name="facenet")

facenet.trainable = False
for layer in facenet.layers[1:]:          # fine-tune everything after the first convolution
    layer.trainable = True

model = keras.Sequential([facenet, keras.layers.Dense(16, activation="relu", name="fc"),
                          keras.layers.Dense(3, name="who")])
optimizer = keras.optimizers.Adam(3e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
before = facenet.get_layer("embed").get_weights()[0].copy()
head_before = model.get_layer("fc").get_weights()[0].copy()

for epoch in range(8):
    for i in range(0, 96, 16):
        with tf.GradientTape() as tape:
            logits = model(faces[i:i + 16], training=True)
            loss = loss_fn(people[i:i + 16], logits)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print("epoch", epoch, float(loss), "trainable:", len(model.trainable_variables))

assert np.array_equal(before, facenet.get_layer("embed").get_weights()[0])
assert not np.array_equal(head_before, model.get_layer("fc").get_weights()[0])
