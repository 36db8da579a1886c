# case: optimizer_keeps_the_moving_average
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (use_ema)
import numpy as np
import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(128, 5)).astype("float32")
y = (np.sin(x[:, :1]) + x[:, 1:2]).astype("float32")
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(32, activation="swish"), keras.layers.Dense(1)])
model.compile(keras.optimizers.AdamW(1e-2, weight_decay=1e-3, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=4), "huber")


class Swap(keras.callbacks.Callback):
    """Evaluate with the averaged weights, then go on with the raw ones."""

    def on_epoch_end(self, epoch, logs=None):
        raw = self.model.get_weights()
        self.model.optimizer.finalize_variable_values(self.model.trainable_variables)
        logs["averaged"] = float(self.model.evaluate(x, y, verbose=0))
        self.model.set_weights(raw)


log = model.fit(x, y, epochs=6, batch_size=16, verbose=0, callbacks=[Swap()]).history
print(log["loss"][0], log["loss"][-1], log["averaged"][-1])
assert log["loss"][-1] < log["loss"][0]
