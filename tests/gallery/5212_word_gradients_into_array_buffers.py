# case: word_gradients_into_array_buffers
# verdict: bug; static: no
# cause: indexed-slices
# expect_line: 31 30
# expect_variables: words/embeddings
# symptom_today: raises AttributeError: 'IndexedSlices' object has no attribute 'numpy'
# exit: 1 (AttributeError)
# fix: tf.convert_to_tensor(g) before .numpy()
# source: SeldonIO/alibi#828 ('IndexedSlices' object has no attribute 'numpy'), bojone/accum_optimizer_for_keras#8
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(27)
model = keras.Sequential([
    keras.layers.Input((5,), dtype="int32"),
    keras.layers.Embedding(20, 4, name="words"),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(1, activation="sigmoid"),
])
optimizer = keras.optimizers.Adam(1e-2)
bce = keras.losses.BinaryCrossentropy()
tokens = tf.random.uniform((24, 5), 0, 20, dtype=tf.int32, seed=1)
label = tf.cast(tokens[:, :1] > 9, tf.float32)

buffers = [np.zeros(v.shape, "float32") for v in model.trainable_variables]
for start in range(0, 24, 8):
    with tf.GradientTape() as tape:
        loss = bce(label[start:start + 8], model(tokens[start:start + 8], training=True)) / 3.0
    for buffer, g in zip(buffers, tape.gradient(loss, model.trainable_variables)):
        buffer += g.numpy()
optimizer.apply_gradients(zip([tf.constant(b) for b in buffers], model.trainable_variables))
print("updated")
