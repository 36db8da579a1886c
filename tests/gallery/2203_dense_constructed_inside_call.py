# case: dense_constructed_inside_call
# verdict: bug; static: yes
# cause: variable-recreated | untracked-variable
# expect_line: 23
# expect_variables: block_1/*, block_2/* (the Dense layers made in call)
# symptom_today: silent: the blocks have no weights in the model, a new random Dense is made at each call
# exit: 0
# fix: create the Dense in __init__ and use it in call
# source: keras-team/keras#11736 and calmiLovesAI/Basic_CNNs_TensorFlow2#10 (layers created in call() are not trained)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Bottleneck(keras.layers.Layer):
    def __init__(self, growth, **kw):
        super().__init__(**kw)
        self.growth = growth

    def call(self, x):
        y = keras.layers.Dense(self.growth, activation="relu")(x)
        return keras.ops.concatenate([x, y], axis=-1)


inputs = keras.Input((6,))
h = Bottleneck(8, name="block_1")(inputs)
h = Bottleneck(8, name="block_2")(h)
model = keras.Model(inputs, keras.layers.Dense(1, name="out")(h))
opt = keras.optimizers.Adam(1e-2)
x = tf.constant(np.random.default_rng(0).normal(size=(32, 6)).astype("float32"))
y = tf.nn.relu(x[:, :1])
for step in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
    print(step, float(loss))
print("weights of the model:", [w.path for w in model.weights])
a, b = model(x[:2]).numpy(), model(x[:2]).numpy()
print("same input, same output?", bool(np.allclose(a, b)))
assert len(model.trainable_weights) == 2 and not np.allclose(a, b)
