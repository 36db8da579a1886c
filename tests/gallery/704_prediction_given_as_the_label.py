# case: prediction_given_as_the_label
# verdict: bug; static: yes
# cause: loss-arguments-swapped
# expect_line: 23
# expect_variables: - (the loss; student/*)
# symptom_today: silent: the logarithm is taken of the labels, not of the prediction
# exit: 0
# fix: criterion(target, output): Keras losses take the labels first
# seen: loss objects called as in another framework (input, target)
import keras
import tensorflow as tf

keras.utils.set_random_seed(4)
student = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(4, activation="softmax")], name="student")
opt = keras.optimizers.SGD(0.1)
criterion = keras.losses.CategoricalCrossentropy()


def one_epoch(dataset):
    for x, target in dataset:
        with tf.GradientTape() as tape:
            output = student(x, training=True)
            loss = criterion(output, target)
        grads = tape.gradient(loss, student.trainable_weights)
        opt.apply_gradients(zip(grads, student.trainable_weights))
    return float(loss)


x = tf.random.normal((40, 6), seed=3)
labels = tf.one_hot(tf.argmax(x[:, :4], axis=-1), 4)
dataset = tf.data.Dataset.from_tensor_slices((x, labels)).batch(10)
losses = [one_epoch(dataset) for _ in range(3)]
right = float(criterion(labels, student(x)))
print(losses, right)
assert losses[0] > 2 * right
