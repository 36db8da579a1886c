# case: teacher_in_dataset_map
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: nothing is wrong: the finished teacher runs in dataset.map on purpose and only the student is trained
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(14)
DIM, CLASSES, TEMPERATURE = 10, 4, 2.0


def make_net(hidden, name):
    return keras.Sequential([
        keras.Input((DIM,)),
        layers.Dense(hidden, activation="gelu"),
        layers.Dense(CLASSES),
    ], name=name)


rng = np.random.default_rng(1)
centres = rng.normal(size=(CLASSES, DIM))
labels = rng.integers(0, CLASSES, 768).astype("int32")
x = (centres[labels] + 0.8 * rng.normal(size=(768, DIM))).astype("float32")

# generation 0, trained on the labels alone
teacher = make_net(48, "teacher")
teacher.compile(optimizer=keras.optimizers.Adam(5e-3),
                loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
first = teacher.fit(x, labels, batch_size=64, epochs=4, verbose=0)
print("teacher:", [round(v, 3) for v in first.history["loss"]])
teacher.trainable = False


def add_soft_targets(xb, yb):
    # a born-again network learns from these, the teacher itself is done
    return xb, yb, tf.nn.softmax(teacher(xb, training=False) / TEMPERATURE)


train = (tf.data.Dataset.from_tensor_slices((x, labels))
         .shuffle(768, seed=3)
         .batch(64)
         .map(add_soft_targets)
         .prefetch(1))

student = make_net(48, "student")
optimizer = keras.optimizers.Adam(3e-3)
hard_loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
soft_loss = keras.losses.CategoricalCrossentropy(from_logits=True)


@tf.function
def distil_step(xb, yb, soft):
    with tf.GradientTape() as tape:
        logits = student(xb, training=True)
        # T^2 keeps the two terms on one scale
        loss = 0.3 * hard_loss(yb, logits) + 0.7 * TEMPERATURE ** 2 * soft_loss(soft, logits / TEMPERATURE)
    grads = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(grads, student.trainable_variables))
    return loss


for epoch in range(4):
    losses = [float(distil_step(*batch)) for batch in train]
    print(f"epoch {epoch}: loss {np.mean(losses):.4f}")
acc = np.mean(np.argmax(student(x).numpy(), 1) == labels)
print("student accuracy", round(float(acc), 3))
