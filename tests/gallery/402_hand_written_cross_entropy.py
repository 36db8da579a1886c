# case: hand_written_cross_entropy
# verdict: bug; static: yes
# cause: nan-log
# expect_line: 18 19
# expect_variables: judge/*
# symptom_today: silent: fit reports loss: nan after the first batches
# exit: 0
# fix: binary_crossentropy with from_logits=True, or clip the probabilities
# seen: custom weighted cross-entropy losses
import keras
import numpy as np

keras.utils.set_random_seed(5)


def weighted_bce(positive_weight):
    def loss(y_true, y_pred):
        hit = y_true * keras.ops.log(y_pred)
        miss = (1.0 - y_true) * keras.ops.log(1.0 - y_pred)
        return -keras.ops.mean(positive_weight * hit + miss, axis=-1)

    return loss


judge = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1, activation="sigmoid")], name="judge")
judge.compile(keras.optimizers.SGD(0.1), loss=weighted_bce(positive_weight=3.0))
x = np.random.default_rng(5).normal(size=(60, 3)).astype("float32") * 200.0
y = (x[:, :1] > 0).astype("float32")
log = judge.fit(x, y, epochs=2, verbose=0).history["loss"]
print(log)
assert np.isnan(log[-1]) and np.isnan(judge.get_weights()[0]).all()
