# case: optimizer_built_on_a_model_without_weights
# verdict: bug; static: yes
# cause: unbuilt-model | optimizer-variable-mismatch
# expect_line: 27 36
# expect_variables: - (none were there yet: all of the model)
# symptom_today: raises ValueError: Unknown variable: ... This optimizer can only be called for the variables it was originally built with.
# exit: 1 (ValueError)
# fix: call the model once (or build it) before optimizer.build
# source: tensorflow/tensorflow#34983 (advice to build the optimizer before the traced step)
import tensorflow as tf
import keras


class Forecaster(keras.Model):
    def __init__(self):
        super().__init__()
        self.gru = keras.layers.GRU(8)
        self.out = keras.layers.Dense(1)

    def call(self, x, training=None):
        return self.out(self.gru(x, training=training))


keras.utils.set_random_seed(13)
model = Forecaster()
optimizer = keras.optimizers.Adam(1e-3)
optimizer.build(model.trainable_variables)
mae = keras.losses.MeanAbsoluteError()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = mae(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


series = tf.sin(tf.linspace(0.0, 20.0, 96))
windows = tf.reshape(series, (12, 8, 1))
for epoch in range(2):
    print(float(train_step(windows[:, :7], windows[:, 7])))
