# case: multihead_running_total
# verdict: bug
# cause: assign-breaks-gradient
# expect_line: 43
# expect_variables: -
# symptom_today: values stored through assign_add are not followed back to their source
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(4)
HEADS = ("temperature", "pressure", "humidity")


def build():
    inputs = keras.Input((6,))
    h = keras.layers.Dense(24, activation="relu")(inputs)
    return keras.Model(inputs, [keras.layers.Dense(1, name=name)(h) for name in HEADS])


def weather(n=120):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(n, 6)).astype("float32")
    y = np.stack([x[:, 0] + x[:, 1], x[:, 2] * 2.0, x[:, 3] - x[:, 4]], 1).astype("float32")
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(n, seed=1).batch(30)


model = build()
optimizer = keras.optimizers.SGD(0.05)
total = tf.Variable(0.0, trainable=False, name="total_loss")
head_weight = {"temperature": 1.0, "pressure": 0.5, "humidity": 0.5}

for epoch in range(4):
    skipped = 0
    for x, y in weather():
        total.assign(0.0)
        with tf.GradientTape() as tape:
            outputs = model(x)
            for i, name in enumerate(HEADS):
                head_loss = tf.reduce_mean(tf.square(outputs[i][:, 0] - y[:, i]))
                total.assign_add(head_weight[name] * head_loss)
        grads = tape.gradient(total, model.trainable_variables)
        pairs = [(g, v) for g, v in zip(grads, model.trainable_variables) if g is not None]
        if pairs:
            optimizer.apply_gradients(pairs)
        else:
            skipped += 1
    print("epoch", epoch, "loss", float(total), "batches without update", skipped)
