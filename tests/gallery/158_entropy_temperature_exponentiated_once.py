# case: entropy_temperature_exponentiated_once
# verdict: bug; static: no
# cause: outside-tape
# expect_line: 18 22 27
# expect_variables: log_alpha
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: compute tf.exp(self.log_alpha) in the loss, every time
# seen: automatic temperature tuning in soft actor-critic agents
import keras
import tensorflow as tf


class Temperature:
    def __init__(self, action_dim, start=0.2):
        self.target_entropy = -float(action_dim)
        self.log_alpha = tf.Variable(tf.math.log(start), name="log_alpha")
        self.alpha = tf.exp(self.log_alpha)
        self.optimizer = keras.optimizers.Adam(3e-4)

    def loss(self, log_prob):
        return -tf.reduce_mean(self.alpha * tf.stop_gradient(log_prob + self.target_entropy))

    def update(self, log_prob):
        with tf.GradientTape() as tape:
            value = self.loss(log_prob)
        grads = tape.gradient(value, [self.log_alpha])
        self.optimizer.apply_gradients(zip(grads, [self.log_alpha]))
        self.alpha = tf.exp(self.log_alpha)
        return value


temperature = Temperature(action_dim=2)
for step in range(3):
    print(step, float(temperature.update(tf.random.normal((32,), mean=-1.0, seed=step))))
