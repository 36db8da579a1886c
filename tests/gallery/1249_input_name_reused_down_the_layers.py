# case: input_name_reused_down_the_layers
# verdict: bug; static: no
# cause: wrong-source-object
# expect_line: 26 24
# expect_variables: x
# symptom_today: raises InvalidArgumentError: incompatible shapes (the gradient is that of the scores, not of the picture)
# exit: 1 (InvalidArgumentError)
# fix: use another name for the running activation and ask the gradient of the input
# source: tensorflow/tensorflow#36596 (gradient of the loss with respect to the input image)
import tensorflow as tf
import keras

keras.utils.set_random_seed(10)
model = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(12, activation="relu"), keras.layers.Dense(3)])
samples = tf.random.normal((8, 6))
labels = tf.constant([0, 1, 2, 0, 1, 2, 0, 1])


def attack(inputs, labels, epsilon=0.05):
    x = tf.convert_to_tensor(inputs)
    with tf.GradientTape() as tape:
        tape.watch(x)
        for layer in model.layers:
            x = layer(x)
        loss = keras.losses.sparse_categorical_crossentropy(labels, x, from_logits=True)
    direction = tape.gradient(loss, x)
    return inputs + epsilon * tf.sign(direction)


adversarial = attack(samples, labels)
print(adversarial.shape)
