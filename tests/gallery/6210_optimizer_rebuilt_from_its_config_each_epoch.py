# case: optimizer_rebuilt_from_its_config_each_epoch
# verdict: bug; static: yes
# cause: optimizer-recreated
# expect_line: 35
# expect_variables: - (momentum is lost at every epoch)
# symptom_today: silent: iterations and moments start again at zero every epoch
# exit: 0
# fix: optimizer.learning_rate.assign(new_rate) keeps the moments
# source: own words, after reports of people rebuilding an optimizer to change its learning rate
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(10, activation="relu"), keras.layers.Dense(1)], name="net")
opt = keras.optimizers.Adam(1e-2)
rng = np.random.default_rng(0)
x = rng.normal(size=(32, 4)).astype("float32")
y = np.abs(x).sum(1, keepdims=True)


def update(opt):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x, training=True) - y))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return float(loss)


for epoch in range(6):
    for _ in range(2):
        loss = update(opt)
    config = opt.get_config()
    config["learning_rate"] *= 0.9
    opt = keras.optimizers.Adam.from_config(config)
    print(epoch, loss, int(opt.iterations.numpy()))
assert int(opt.iterations.numpy()) == 0
