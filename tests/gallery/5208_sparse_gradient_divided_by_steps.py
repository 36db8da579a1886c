# case: sparse_gradient_divided_by_steps
# verdict: bug; static: no
# cause: indexed-slices
# expect_line: 30
# expect_variables: embedding/embeddings
# symptom_today: raises TypeError: unsupported operand type(s) for /: 'IndexedSlices' and 'int'
# exit: 1 (TypeError)
# fix: tf.convert_to_tensor(g) / steps (or scale the loss)
# source: Jannoshh/simple-sam#8 (IndexedSlices and float), tensorflow/addons#2525 (accumulator fails with Embedding)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
steps = 4
model = keras.Sequential([keras.Input((6,), dtype="int32"), keras.layers.Embedding(40, 8), keras.layers.GlobalAveragePooling1D(),
                          keras.layers.Dense(1)])
bce = keras.losses.BinaryCrossentropy(from_logits=True)
opt = keras.optimizers.Adam(1e-3)
rng = np.random.default_rng(0)
tokens = rng.integers(0, 40, size=(32, 6))
label = (tokens.sum(1) > 117).astype("float32")[:, None]

slots = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]
for chunk in np.array_split(np.arange(32), steps):
    with tf.GradientTape() as tape:
        loss = bce(label[chunk], model(tokens[chunk], training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    for slot, g in zip(slots, grads):
        slot.assign_add(g / steps)
opt.apply_gradients(zip(slots, model.trainable_variables))
