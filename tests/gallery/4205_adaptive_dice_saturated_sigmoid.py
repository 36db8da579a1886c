# case: adaptive_dice_saturated_sigmoid
# verdict: bug; static: no
# cause: nan-pow
# expect_line: 19
# expect_variables: classifier/* (NaN after the first step)
# symptom_today: silent: loss finite in the first batch, then nan
# exit: 0
# fix: keep the base away from zero: (1 - y_pred + 1e-7) ** alpha
# source: ShannonAI/dice_loss_for_NLP#6 (TensorFlow port of the self-adjusting dice loss with (1 - p) ** 0.1: loss nan), kornia/kornia#918 (fractional gamma, saturated probability)
import numpy as np
import keras
from keras import ops

keras.utils.set_random_seed(3)


def adaptive_dice(alpha=0.1, smooth=1e-8):
    def loss_fn(y_true, y_pred):
        weight = (1.0 - y_pred) ** alpha
        soft = weight * y_pred
        overlap = ops.sum(soft * y_true, axis=-1) + smooth
        total = ops.sum(soft, axis=-1) + ops.sum(y_true, axis=-1) + smooth
        return 1.0 - 2.0 * overlap / total
    return loss_fn


rng = np.random.default_rng(0)
grey = rng.integers(0, 256, size=(64, 10)).astype("float32")        # pixels, not scaled
tags = (rng.uniform(size=(64, 4)) < 0.3).astype("float32")
classifier = keras.Sequential([
    keras.layers.Input((10,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(4, activation="sigmoid"),
], name="classifier")
classifier.compile(optimizer=keras.optimizers.RMSprop(), loss=[adaptive_dice()])
log = classifier.fit(grey, tags, batch_size=16, epochs=2, verbose=0).history["loss"]
print("epoch losses", log)
assert np.isnan(log[-1])
