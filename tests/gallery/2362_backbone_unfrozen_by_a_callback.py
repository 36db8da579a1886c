# case: unfreeze_callback
# verdict: bug
# cause: frozen-by-flag | optimizer-variable-mismatch
# expect_line: 55 78
# expect_variables: low/kernel, low/bias, high/kernel, high/bias
# symptom_today: from epoch 3 on the summary says "trainable", yet the backbone is the pretrained one to the last bit
# exit: 0
# fix: fit up to the epoch, set trainable, compile again, go on with fit(initial_epoch=...)
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(8)
FEATURES, SOURCE_CLASSES = 16, 5


def source_task(n, rng, mix):
    x = rng.normal(size=(n, FEATURES))
    return x.astype("float32"), np.argmax(np.tanh(x @ mix[:, :SOURCE_CLASSES]), axis=1).astype("int32")


def target_task(n, rng, mix):
    """Another question about the same features, slightly shifted."""
    x = rng.normal(size=(n, FEATURES)) + 0.2
    y = np.tanh(2 * x @ mix[:, 6:7]) + 0.5 * np.tanh(x @ mix[:, 3:4])
    return x.astype("float32"), (y / y.std()).astype("float32")


def make_backbone():
    inputs = keras.Input((FEATURES,), name="features")
    h = layers.Dense(32, activation="tanh", name="low")(inputs)
    h = layers.Dense(32, activation="tanh", name="high")(h)
    return keras.Model(inputs, h, name="backbone")


def pretrain(backbone, x, y):
    classifier = keras.Sequential([backbone, layers.Dense(SOURCE_CLASSES, name="source_logits")])
    classifier.compile(keras.optimizers.Adam(5e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                       metrics=["accuracy"])
    history = classifier.fit(x, y, batch_size=64, epochs=4, verbose=0)
    print("source accuracy %.3f" % history.history["accuracy"][-1])


class GradualUnfreeze(keras.callbacks.Callback):
    """Trains the new head alone, then wakes the backbone and lowers the learning rate."""

    def __init__(self, backbone, epoch, factor):
        super().__init__()
        self.backbone, self.epoch, self.factor = backbone, epoch, factor

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.epoch:
            self.backbone.trainable = True
            rate = self.model.optimizer.learning_rate
            rate.assign(rate * self.factor)
            n = sum(int(np.prod(v.shape)) for v in self.model.trainable_variables)
            print(f"epoch {epoch}: {n} trainable weights, learning rate {float(rate):.4f}")


def transfer(backbone):
    backbone.trainable = False
    inputs = keras.Input((FEATURES,))
    h = backbone(inputs)
    h = layers.Dense(16, activation="tanh", name="adapter")(h)
    return keras.Model(inputs, layers.Dense(1, name="answer")(h), name="transfer")


rng = np.random.default_rng(6)
mix = rng.normal(size=(FEATURES, 8)) / 3
backbone = make_backbone()
pretrain(backbone, *source_task(1024, rng, mix))
pretrained = [w.copy() for w in backbone.get_weights()]

x, y = target_task(768, rng, mix)
model = transfer(backbone)
model.compile(keras.optimizers.Adam(5e-3), loss="mse")
history = model.fit(x, y, batch_size=64, epochs=8, verbose=0, validation_split=0.2,
                    callbacks=[GradualUnfreeze(backbone, epoch=3, factor=0.4)])
for epoch, (loss, val) in enumerate(zip(history.history["loss"], history.history["val_loss"])):
    print(f"epoch {epoch}  loss {loss:.3f}  val {val:.3f}")

trainable = [v.path for v in model.trainable_variables]
assert any("low" in p for p in trainable) and any("high" in p for p in trainable)
for before, after in zip(pretrained, backbone.get_weights()):
    np.testing.assert_array_equal(before, after)
print("backbone is as it was after pretraining")
