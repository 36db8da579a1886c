# case: features_cached_outside_the_loop
# verdict: bug; static: no
# cause: outside-tape
# expect_line: 24 28
# expect_variables: tower/*
# symptom_today: Keras warns about tower/*; only the classifier trains
# exit: 0
# fix: call the tower inside the tape, or leave it out of the variable list
# seen: speeding up fine-tuning by computing backbone features once
import keras
import numpy as np
import tensorflow as tf

tower = keras.Sequential([keras.layers.Input((12,)), keras.layers.Dense(8, activation="relu")], name="tower")
classifier = keras.layers.Dense(3, name="classifier")
x = np.random.default_rng(3).normal(size=(40, 12)).astype("float32")
y = np.random.default_rng(4).integers(0, 3, size=40)

cache = {}


def features(key, batch):
    if key not in cache:
        cache[key] = tower(batch, training=True)
    return cache[key]


warm = features("all", x)
classifier(warm)
params = [*tower.trainable_variables, *classifier.trainable_variables]
opt = keras.optimizers.Adam(1e-2)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
tower_before = tower.get_weights()[0]
for step in range(5):
    with tf.GradientTape() as tape:
        loss = xent(y, classifier(features("all", x)))
    pairs = zip(tape.gradient(loss, params), params)
    opt.apply_gradients(pairs)
print(float(loss))
assert np.array_equal(tower_before, tower.get_weights()[0])
