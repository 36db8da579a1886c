# case: last_block_unfrozen_but_not_its_parent
# verdict: bug; static: no
# cause: frozen-by-flag | variable-not-in-loss | unbuilt-model
# expect_line: 20 22 27
# expect_variables: backbone/late/*
# symptom_today: silent: backbone.trainable_variables is empty as long as backbone.trainable is False
# exit: 0
# fix: backbone.trainable = True first, then freeze the early layers one by one
# seen: fine-tuning the top block of an application model
import keras
import numpy as np
import tensorflow as tf

backbone = keras.Sequential(
    [keras.layers.Input((7,)), keras.layers.Dense(6, activation="relu", name="early"), keras.layers.Dense(5, activation="relu", name="late")],
    name="backbone",
)
head = keras.layers.Dense(1, name="head")
head.build((None, 5))
backbone.trainable = False
for layer in backbone.layers[-1:]:
    layer.trainable = True

opt = keras.optimizers.Adam(0.01)
x = tf.random.normal((30, 7), seed=8)
y = tf.reduce_max(x, axis=1, keepdims=True)
weights = backbone.trainable_variables + head.trainable_variables
late = backbone.get_layer("late").get_weights()[0].copy()
for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((head(backbone(x)) - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
print(len(weights), float(loss))
assert np.array_equal(late, backbone.get_layer("late").get_weights()[0])
