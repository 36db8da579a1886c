# case: world_model_with_sampled_codes
# verdict: bug; static: yes
# cause: non-reparameterised-sample | non-differentiable-op
# expect_line: 27 28
# expect_variables: world_model/encoder/*
# symptom_today: warning: Gradients do not exist for variables of the encoder
# exit: 0
# fix: straight-through: code + probs - stop_gradient(probs), or Gumbel-softmax
# source: tensorflow/tensorflow#42542 (Gradients do not exist for variables when minimizing the loss)
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(7)


class WorldModel(keras.Model):
    def __init__(self, classes=8):
        super().__init__(name="world_model")
        self.encoder = layers.Dense(classes, name="encoder")
        self.decoder = keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(6)], name="decoder")
        self.seeds = keras.random.SeedGenerator(0)
        self.classes = classes

    def call(self, observation):
        logits = self.encoder(observation)
        state = keras.random.categorical(logits, 1, seed=self.seeds)[:, 0]
        code = ops.one_hot(state, self.classes)
        return self.decoder(code)


x = np.random.default_rng(0).normal(size=(64, 6)).astype("float32")
model = WorldModel()
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
history = model.fit(x, x, batch_size=16, epochs=3, verbose=0)
print(history.history["loss"])
