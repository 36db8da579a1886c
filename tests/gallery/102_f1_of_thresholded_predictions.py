# case: f1_of_thresholded_predictions
# verdict: bug; static: yes
# cause: non-differentiable-op
# expect_line: 21
# expect_variables: dense/*, dense_1/* (detector/*)
# symptom_today: raises ValueError: No gradients provided for any variable (in fit)
# exit: 1 (ValueError)
# fix: a soft F1: use the probabilities themselves in the three sums
# seen: Kaggle answers on optimising F1 directly with a Keras custom loss
import keras
import numpy as np
import tensorflow as tf


class F1Loss(keras.losses.Loss):
    def __init__(self, threshold=0.5):
        super().__init__(name="f1")
        self.threshold = threshold

    def call(self, y_true, y_pred):
        hits = tf.cast(y_pred > self.threshold, tf.float32)
        tp = tf.reduce_sum(y_true * hits)
        fp = tf.reduce_sum((1.0 - y_true) * hits)
        fn = tf.reduce_sum(y_true * (1.0 - hits))
        return 1.0 - 2.0 * tp / (2.0 * tp + fp + fn + 1e-7)


rng = np.random.default_rng(5)
signal = rng.normal(size=(96, 4)).astype("float32")
flags = (signal[:, :1] > 0.2).astype("float32")
inputs = keras.Input((4,))
hidden = keras.layers.Dense(6, activation="gelu")(inputs)
detector = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(hidden), name="detector")
detector.compile(optimizer="rmsprop", loss=F1Loss(threshold=0.4))
detector.fit(signal, flags, batch_size=32, epochs=1, verbose=0)
