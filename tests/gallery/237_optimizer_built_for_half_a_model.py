# case: optimizer_built_for_half_a_model
# verdict: bug; static: no
# cause: unbuilt-model | optimizer-variable-mismatch
# expect_line: 27 35
# expect_variables: decoder/*
# symptom_today: raises ValueError: Unknown variable (or a KeyError) for the decoder
# exit: 1 (ValueError)
# fix: call the model once before optimizer.build(model.trainable_variables)
# seen: optimizer.build added to please a tf.function
import keras
import tensorflow as tf


class Seq2Seq(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential([keras.layers.Input((5, 3)), keras.layers.GRU(8)], name="encoder")
        self.repeat = keras.layers.RepeatVector(5)
        self.decoder = keras.layers.GRU(3, return_sequences=True, name="decoder")

    def call(self, x, training=None):
        return self.decoder(self.repeat(self.encoder(x, training=training)), training=training)


model = Seq2Seq()
optimizer = keras.optimizers.Adam(1e-3)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - x) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


print(float(train_step(tf.random.normal((4, 5, 3), seed=1))))
