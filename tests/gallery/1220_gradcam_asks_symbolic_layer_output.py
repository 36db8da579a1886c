# case: gradcam_asks_symbolic_layer_output
# verdict: bug; static: yes
# cause: wrong-source-object
# expect_line: 26 30
# expect_variables: conv (the symbolic output of conv_b)
# symptom_today: raises AttributeError: 'KerasTensor' object has no attribute '_id'
# exit: 1 (AttributeError)
# fix: make one model that returns [conv output, prediction] and differentiate with respect to the tensor it returned
# source: tensorflow/tensorflow#46194 (Grad-CAM: 'KerasTensor' object has no attribute '_id')
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


def build():
    photo = keras.Input((12, 12, 3))
    h = keras.layers.Conv2D(4, 3, activation="relu", name="conv_a")(photo)
    h = keras.layers.Conv2D(6, 3, activation="relu", name="conv_b")(h)
    h = keras.layers.GlobalAveragePooling2D()(h)
    return keras.Model(photo, keras.layers.Dense(5, activation="softmax")(h))


def heatmap(model, picture, layer_name):
    conv = model.get_layer(layer_name).output
    with tf.GradientTape() as tape:
        prediction = model(picture)
        winner = prediction[:, int(np.argmax(prediction[0]))]
    grads = tape.gradient(winner, conv)
    weights = tf.reduce_mean(grads, axis=(0, 1, 2))
    return tf.reduce_sum(weights * conv, axis=-1)


picture = np.random.default_rng(0).uniform(size=(1, 12, 12, 3)).astype("float32")
print(heatmap(build(), picture, "conv_b"))
