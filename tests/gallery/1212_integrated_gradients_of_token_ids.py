# case: integrated_gradients_of_token_ids
# verdict: bug; static: no
# cause: non-differentiable-op | int-variable
# expect_line: 18 33 34
# expect_variables: point (token ids)
# symptom_today: raises ValueError: Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.
# exit: 1 (ValueError)
# fix: interpolate and differentiate the output of the embedding layer, not the ids
# source: hiranumn/IntegratedGradients#5 and raghakot/keras-vis#63 (gradient with respect to word ids is None)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
VOCAB, LENGTH = 30, 8

tokens = keras.Input((LENGTH,), name="tokens")
vectors = keras.layers.Embedding(VOCAB, 6, name="word_vectors")(tokens)
score = keras.layers.Dense(1, activation="sigmoid")(keras.layers.GlobalAveragePooling1D()(vectors))
model = keras.Model(tokens, score)
model.compile("adam", "binary_crossentropy")
texts = np.random.default_rng(0).integers(1, VOCAB, size=(40, LENGTH)).astype("float32")
model.fit(texts, (texts[:, 0] > 15).astype("float32"), epochs=1, verbose=0)


def integrated_gradients(model, ids, steps=5):
    baseline = tf.zeros_like(ids)
    collected = []
    for alpha in np.linspace(0.0, 1.0, steps, dtype="float32"):
        point = baseline + alpha * (ids - baseline)
        with tf.GradientTape() as tape:
            tape.watch(point)
            probability = model(point)
        collected.append(tape.gradient(probability, point))
    return (ids - baseline) * tf.reduce_mean(tf.stack(collected), axis=0)


print(integrated_gradients(model, tf.constant(texts[:1])))
