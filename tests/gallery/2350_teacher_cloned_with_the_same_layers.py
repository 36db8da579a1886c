# case: teacher_clone_function
# verdict: bug
# cause: aliased-network
# expect_line: 50 54 73
# expect_variables: -
# symptom_today: the distance between teacher and student weights is exactly 0 at all times, the slow average does nothing
# exit: 0
# fix: in quiet() return layer.__class__.from_config(layer.get_config()), then teacher.set_weights(student.get_weights())
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)

N_CLASSES = 3
centers = rng.normal(0.0, 1.0, (N_CLASSES, 12))


def sample(n):
    y = rng.integers(0, N_CLASSES, n)
    x = centers[y] + 0.8 * rng.normal(size=(n, 12))
    return x.astype("float32"), y.astype("int32")


# few labelled sensor windows, many without a label
x_lab, y_lab = sample(192)
x_unl, _ = sample(768)
labelled = tf.data.Dataset.from_tensor_slices((x_lab, y_lab)).shuffle(192).batch(16).repeat()
unlabelled = tf.data.Dataset.from_tensor_slices(x_unl).shuffle(768).batch(64).repeat()


def build_student():
    inp = keras.Input((12,))
    h = layers.GaussianNoise(0.3)(inp)
    h = layers.Dense(32, activation="tanh", name="enc1")(h)
    h = layers.Dropout(0.2)(h)
    h = layers.Dense(32, activation="tanh", name="enc2")(h)
    return keras.Model(inp, layers.Dense(N_CLASSES, name="logits")(h), name="student")


def quiet(layer):
    """The teacher is the same network, but with the noise taken out."""
    if isinstance(layer, (layers.Dropout, layers.GaussianNoise)):
        return layers.Identity()
    return layer


student = build_student()
teacher = keras.models.clone_model(student, clone_function=quiet)

optimizer = keras.optimizers.Adam(3e-3)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
EMA = 0.98


@tf.function
def train_step(xl, yl, xu):
    with tf.GradientTape() as tape:
        supervised = ce(yl, student(xl, training=True))
        goal = tf.stop_gradient(tf.nn.softmax(teacher(xu, training=False)))
        guess = tf.nn.softmax(student(xu, training=True))
        consistency = tf.reduce_mean(tf.square(goal - guess))
        loss = supervised + 2.0 * consistency
    grads = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(grads, student.trainable_variables))
    # the teacher follows slowly
    for slow, fast in zip(teacher.weights, student.weights):
        slow.assign(EMA * slow + (1.0 - EMA) * fast)
    return supervised, consistency


stream = zip(labelled, unlabelled)
for step in range(61):
    (xl, yl), xu = next(stream)
    supervised, consistency = train_step(xl, yl, xu)
    if step % 10 == 0:
        gap = max(np.abs(t.numpy() - s.numpy()).max() for t, s in zip(teacher.weights, student.weights))
        print(f"step {step:3d} ce {supervised:.3f} consistency {consistency:.4f} teacher-student gap {gap:.5f}")
