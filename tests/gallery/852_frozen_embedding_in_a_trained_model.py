# case: frozen_embedding_in_a_trained_model
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: pre-trained vectors with trainable=False from the start
import keras
import numpy as np

keras.utils.set_random_seed(4)
vectors = np.random.default_rng(4).normal(size=(30, 6)).astype("float32")
ids = keras.Input((5,), dtype="int32")
h = keras.layers.Embedding(30, 6, trainable=False, name="pretrained")(ids)
h = keras.layers.Conv1D(8, 2, activation="relu")(h)
net = keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(keras.layers.GlobalMaxPooling1D()(h)))
net.get_layer("pretrained").set_weights([vectors])
net.compile(keras.optimizers.Adam(0.02), "binary_crossentropy")
x = np.random.default_rng(5).integers(0, 30, size=(80, 5))
y = (vectors[x[:, 0], 0] > 0).astype("float32")[:, None]
log = net.fit(x, y, epochs=4, verbose=0).history["loss"]
print(log)
assert log[-1] < log[0] and np.array_equal(vectors, net.get_layer("pretrained").get_weights()[0])
