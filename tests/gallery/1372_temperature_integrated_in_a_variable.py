# case: thermal_network_rollout
# verdict: bug
# cause: assign-breaks-gradient
# expect_line: 65  66
# expect_variables: log_conductance, log_loss
# symptom_today: a warning that gradients do not exist for two weights; the loss falls by the sensor calibration alone and the heat parameters stay where they began
# exit: 0
# fix: carry the temperature as a tensor through the loop, and at most assign the last one to the variable
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(4)

CONFIG = dict(zones=3, batch=16, steps=20, dt=0.1, lr=0.03, epochs=15)
LINKS = np.array([[0, 1], [1, 2], [0, 2]])


def incidence(links, zones):
    """Rows are links, columns are zones; a link takes heat from one end and gives it to the other."""
    m = np.zeros((len(links), zones), "float32")
    m[np.arange(len(links)), links[:, 0]] = 1.0
    m[np.arange(len(links)), links[:, 1]] = -1.0
    return m


def reference_building(heating, start, cfg):
    """What the building management system logged (made with known parameters)."""
    conductance, loss = np.array([1.6, 0.3, 0.7]), np.array([0.9, 0.2, 0.5])
    d = incidence(LINKS, cfg["zones"])
    temperature, log = start.copy(), []
    for k in range(cfg["steps"]):
        flow = (temperature @ d.T) * conductance
        temperature = temperature + cfg["dt"] * (heating[:, k] - flow @ d - loss * temperature)
        log.append(1.2 * temperature - 0.1)
    return np.stack(log, axis=1).astype("float32")


class ThermalNetwork(keras.layers.Layer):
    """RC network of a building: zone temperatures over the ambient, driven by the radiators."""

    def __init__(self, cfg, **kwargs):
        super().__init__(**kwargs)
        self.cfg = cfg
        self.links = tf.constant(incidence(LINKS, cfg["zones"]))

    def build(self, heating_shape, start_shape):
        zones = self.cfg["zones"]
        self.log_conductance = self.add_weight(shape=(len(LINKS),), initializer="zeros", name="log_conductance")
        self.log_loss = self.add_weight(shape=(zones,), initializer="zeros", name="log_loss")
        self.temperature = self.add_weight(
            shape=(self.cfg["batch"], zones), initializer="zeros", trainable=False, name="temperature")

    def heat_balance(self, temperature, heating):
        flow = tf.matmul(temperature, self.links, transpose_b=True) * tf.exp(self.log_conductance)
        return heating - tf.matmul(flow, self.links) - tf.exp(self.log_loss) * temperature

    def call(self, heating, start):
        self.temperature.assign(start)
        history = []
        for k in range(self.cfg["steps"]):
            rate = self.heat_balance(self.temperature.value, heating[:, k])
            self.temperature.assign_add(self.cfg["dt"] * rate)
            history.append(tf.identity(self.temperature.value))
        return tf.stack(history, axis=1)


class Sensor(keras.layers.Layer):
    """Each zone has a thermometer of its own with a gain and an offset."""

    def build(self, shape):
        self.gain = self.add_weight(shape=(shape[-1],), initializer="ones", name="gain")
        self.offset = self.add_weight(shape=(shape[-1],), initializer="zeros", name="offset")

    def call(self, temperature):
        return self.gain * temperature + self.offset


def build_model(cfg):
    heating = keras.Input((cfg["steps"], cfg["zones"]), batch_size=cfg["batch"], name="heating")
    start = keras.Input((cfg["zones"],), batch_size=cfg["batch"], name="start")
    zones = ThermalNetwork(cfg, name="network")(heating, start)
    return keras.Model([heating, start], Sensor(name="sensor")(zones))


rng = np.random.default_rng(0)
n = 8 * CONFIG["batch"]
heating = rng.uniform(0.0, 2.0, size=(n, 1, CONFIG["zones"])).repeat(CONFIG["steps"], 1).astype("float32")
start = rng.normal(0.5, 0.5, size=(n, CONFIG["zones"])).astype("float32")
logged = reference_building(heating, start, CONFIG)

model = build_model(CONFIG)
model.compile(optimizer=keras.optimizers.Adam(CONFIG["lr"]), loss="mse", metrics=["mae"])
history = model.fit([heating, start], logged, batch_size=CONFIG["batch"], epochs=CONFIG["epochs"], verbose=0)
losses = history.history["loss"]
network, sensor = model.get_layer("network"), model.get_layer("sensor")
print("mse %.4f -> %.4f" % (losses[0], losses[-1]))
print("conductance", np.exp(network.log_conductance.numpy()), "loss", np.exp(network.log_loss.numpy()))

assert losses[-1] < losses[0]
assert np.all(network.log_conductance.numpy() == 0) and np.all(network.log_loss.numpy() == 0)
assert np.abs(sensor.gain.numpy() - 1).max() > 1e-2


def plain_rollout(heating, start):
    temperature, out = start, []
    for k in range(CONFIG["steps"]):
        temperature = temperature + CONFIG["dt"] * network.heat_balance(temperature, heating[:, k])
        out.append(temperature)
    return sensor(tf.stack(out, axis=1))


batch = slice(0, CONFIG["batch"])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((plain_rollout(tf.constant(heating[batch]), tf.constant(start[batch])) - logged[batch]) ** 2)
right = tape.gradient(loss, [network.log_conductance.value, network.log_loss.value])
print("a rollout on tensors has gradients of size", [float(tf.norm(g)) for g in right])
assert all(float(tf.norm(g)) > 1e-3 for g in right)
