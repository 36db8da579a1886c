# case: empty_list_of_losses
# verdict: bug; static: no
# cause: constant-target | variable-not-in-loss
# expect_line: 23 29 30
# expect_variables: net/*
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: filter on the right key; make an empty batch an error
# seen: multi-task trainers that select the losses by task name
import keras
import tensorflow as tf

net = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(2)], name="net")
opt = keras.optimizers.Adagrad(0.1)
TASKS = {
    "Area": lambda out, y: tf.reduce_mean((out[:, 0] - y) ** 2),
    "Price": lambda out, y: tf.reduce_mean((out[:, 1] - y) ** 2),
}


def total_loss(out, targets, enabled):
    losses = [loss(out, targets[name]) for name, loss in TASKS.items() if name in enabled]
    return tf.add_n(losses) if losses else tf.constant(0.0)


x = tf.random.normal((10, 2), seed=0)
targets = {"Area": x[:, 0] * 2.0, "Price": x[:, 1] - 1.0}
with tf.GradientTape() as tape:
    loss = total_loss(net(x), targets, enabled=("area", "price"))
grads = tape.gradient(loss, net.trainable_variables)
opt.apply_gradients(zip(grads, net.trainable_variables))
