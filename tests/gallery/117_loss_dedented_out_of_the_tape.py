# case: loss_dedented_out_of_the_tape
# verdict: bug; static: yes
# cause: outside-tape
# expect_line: 27
# expect_variables: forecaster/*
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: indent the loss into the with block
# seen: notebook cells where the loss line lost its indentation
import keras
import tensorflow as tf


class Forecaster(keras.Model):
    def __init__(self, units):
        super().__init__(name="forecaster")
        self.rnn = keras.layers.GRU(units)
        self.out = keras.layers.Dense(1)

    def call(self, series):
        return self.out(self.rnn(series))

    def train_step(self, batch):
        series, target = batch
        with tf.GradientTape() as tape:
            forecast = self(series, training=True)
        loss = tf.reduce_mean(tf.square(forecast - target))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


series = tf.random.normal((32, 7, 2), seed=5)
target = tf.reduce_mean(series[:, -1], axis=-1, keepdims=True)
model = Forecaster(units=4)
model.compile(optimizer=keras.optimizers.Adam(1e-2))
model.fit(tf.data.Dataset.from_tensor_slices((series, target)).batch(8), epochs=1, verbose=0)
