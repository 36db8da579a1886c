# case: own_train_step_in_inference_mode
# verdict: bug; static: yes
# cause: training-flag
# expect_line: 33
# expect_variables: - (dropout and noise layers do nothing)
# symptom_today: silent: the regularising layers are never active
# exit: 0
# fix: y_pred = self(x, training=True)
# source: yusugomori/deeplearning-keras-tf2-torch#2 (dropout is inactive in a custom loop unless training=True is passed), tensorflow/neural-structured-learning#28
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Classifier(keras.Model):
    def __init__(self):
        super().__init__()
        self.noise = keras.layers.GaussianNoise(0.5)
        self.hidden = keras.layers.Dense(32, activation="relu")
        self.drop = keras.layers.Dropout(0.5)
        self.out = keras.layers.Dense(3)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def call(self, x, training=None):
        h = self.hidden(self.noise(x, training=training))
        return self.out(self.drop(h, training=training))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x)
            loss = self.loss_fn(y, y_pred)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"crossentropy": loss}


rng = np.random.default_rng(0)
x = rng.normal(size=(40, 6)).astype("float32")
y = rng.integers(0, 3, size=40)
model = Classifier()
model.compile(keras.optimizers.SGD(0.0))             # rate 0: only to look at the forward pass
log = model.fit(x, y, batch_size=40, shuffle=False, epochs=4, verbose=0).history["crossentropy"]
print("losses with dropout 0.5, weights unchanged:", log)
assert len(set(log)) == 1 and log[0] > 0
model.compile(keras.optimizers.SGD(0.1))
model.fit(x, y, batch_size=10, epochs=2, verbose=0)
