# case: legacy_losses_of_logits
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: two losses of legacy Keras that were told of the logits, one compiled and one called
# exit: 0
# fix: -
# source: own words
import numpy as np
import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(96, 5)).astype("float32")
labels = np.argmax(x[:, :3], axis=1)

teacher = keras.Sequential([keras.layers.Dense(16, "relu"), keras.layers.Dense(3)])
teacher.compile(keras.optimizers.Adam(0.02), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
teacher.fit(x, labels, epochs=4, verbose=0)

student = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(3)])
compare = keras.losses.CategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(0.02)
soft = tf.nn.softmax(teacher.predict(x, verbose=0) / 2.0)
losses = []
for _ in range(12):
    with tf.GradientTape() as tape:
        loss = compare(soft, student(x, training=True))
    gradients = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(gradients, student.trainable_variables))
    losses.append(float(loss))
assert losses[-1] < losses[0]
