# case: linear_model_of_raw_variables_in_fit
# verdict: bug; static: yes
# cause: untracked-variable
# expect_line: 19 20
# expect_variables: slope, offset
# symptom_today: Keras warns that the model has no trainable weights; the loss is the same in every epoch
# exit: 0
# fix: create them with self.add_weight (Keras 3 does not track tf.Variable)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class Line(keras.Model):
    def __init__(self):
        super().__init__()
        self.slope = tf.Variable(tf.random.normal((3, 1)))
        self.offset = tf.Variable(tf.zeros((1,)))

    def call(self, x):
        return tf.matmul(x, self.slope) + self.offset


x = np.random.rand(64, 3).astype("float32")
y = x @ np.array([[1.0], [2.0], [3.0]], "float32")
model = Line()
model.compile("sgd", loss="mse")
losses = model.fit(x, y, epochs=3, batch_size=64, verbose=0).history["loss"]
assert len(set(losses)) == 1
