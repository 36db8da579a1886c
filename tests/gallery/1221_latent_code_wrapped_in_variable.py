# case: latent_code_wrapped_in_variable
# verdict: bug; static: yes
# cause: assign-breaks-gradient | variable-recreated
# expect_line: 24
# expect_variables: encoder/*
# symptom_today: UserWarning: Gradients do not exist for variables ['encoder/to_code/kernel', 'encoder/to_code/bias'] ...
# exit: 0
# fix: keep the code a tensor
# source: https://www.tensorflow.org/guide/autodiff ('took gradients through a stateful object') and tensorflow/tensorflow#30234 (operations on tf.Variable cut the meta-gradient)
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class LatentAutoencoder(tf.Module):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(3, name="to_code")], name="encoder")
        self.decoder = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(8, name="to_data")], name="decoder")
        self.weights = self.encoder.trainable_variables + self.decoder.trainable_variables

    def reconstruct(self, x):
        code = tf.Variable(self.encoder(x), name="code")
        return self.decoder(code * 1.0)


model = LatentAutoencoder()
opt = keras.optimizers.Adam(1e-2)
x = tf.random.normal((32, 8), seed=0)
start = [tf.identity(v) for v in model.encoder.trainable_variables]
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model.reconstruct(x) - x))
    grads = tape.gradient(loss, model.weights)
    opt.apply_gradients(zip(grads, model.weights))
    print(step, float(loss))
print("encoder unchanged:", all(bool(tf.reduce_all(a == b)) for a, b in zip(start, model.encoder.trainable_variables)))
