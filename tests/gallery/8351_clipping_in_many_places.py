# case: clipping_in_many_places
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: optimizers that clip by themselves, norms taken by clipping, clipped gradients handed on and logged
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(4)
net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
x = np.random.default_rng(0).normal(size=(12, 3)).astype("float32")
y = x[:, :1] * 2.0
seen = []


def gradients_of():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    return tape.gradient(loss, net.trainable_variables)


def apply(optimizer, gradients):
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))


for optimizer in (keras.optimizers.SGD(0.05, clipnorm=1.0), keras.optimizers.Adam(0.01, global_clipnorm=0.5)):
    for _ in range(3):
        apply(optimizer, gradients_of())

plain = keras.optimizers.SGD(0.05)
for _ in range(3):
    gradients = gradients_of()
    _, norm = tf.clip_by_global_norm(gradients, 1.0)
    seen.append(float(norm))
    apply(plain, gradients)


@tf.function
def step(optimizer):
    clipped, norm = tf.clip_by_global_norm(gradients_of(), 1.0)
    clipped = [tf.clip_by_value(g, -0.1, 0.1) for g in clipped]
    apply(optimizer, clipped)
    return norm, clipped


inside = keras.optimizers.Adam(0.01, clipvalue=0.5)
inside.build(net.trainable_variables)
for _ in range(3):
    seen.append(float(step(inside)[0]))

net.compile(keras.optimizers.Adam(0.01, clipnorm=0.1), "mse")
net.fit(x, y, epochs=2, verbose=0)
for _ in range(2):
    gradients = gradients_of()
    small = [tf.clip_by_norm(g, 0.1) for g in gradients]
    print("clipped", [round(float(tf.norm(g)), 3) for g in small])
    apply(plain, gradients)
