# case: accumulating_trainer
# verdict: bug
# cause: accumulation-not-reset
# expect_line: 31 37
# expect_variables: -
# symptom_today: accumulators that have to be zeroed after the update, answer in
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class AccumulatingTrainer:
    def __init__(self, model, optimizer, loss_fn, every):
        self.model = model
        self.optimizer = optimizer
        self.loss_fn = loss_fn
        self.every = every
        self.slots = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]
        self.count = tf.Variable(0, trainable=False, dtype=tf.int32)

    @tf.function
    def accumulate(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.model(x, training=True))
        grads = tape.gradient(loss, self.model.trainable_variables)
        for slot, grad in zip(self.slots, grads):
            slot.assign_add(grad / self.every)
        self.count.assign_add(1)
        return loss

    @tf.function
    def update(self):
        self.optimizer.apply_gradients(zip([s.value() for s in self.slots], self.model.trainable_variables))
        self.count.assign(0)

    def fit(self, dataset, epochs):
        for epoch in range(epochs):
            losses = []
            for x, y in dataset:
                losses.append(float(self.accumulate(x, y)))
                if int(self.count) == self.every:
                    self.update()
            print("epoch", epoch, "loss", np.mean(losses))


rng = np.random.default_rng(1)
x = rng.normal(size=(320, 6)).astype("float32")
y = (x @ rng.normal(size=(6, 1))).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)])
trainer = AccumulatingTrainer(model, keras.optimizers.SGD(0.1), keras.losses.MeanSquaredError(), every=4)
trainer.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(10), epochs=6)
