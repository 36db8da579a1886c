# case: lars_ratio_for_a_silent_layer
# verdict: bug; static: no
# cause: nan-optimizer | nan-division
# expect_line: 23 24
# expect_variables: audio/kernel (gradient is 0, update is inf * 0)
# symptom_today: silent: first loss finite, then nan
# exit: 0
# fix: use a ratio of 1 when either norm is zero
# source: cybertronai/pytorch-lamb PR#6 (trust ratio must be 1 when a norm is zero), mosaicml/composer PR#967 review (where(g_norm > 0, w_norm / g_norm, 1)), lisa-lab/pylearn2#1496 (NaN born in the update at the first iteration)
import numpy as np
import keras
from keras import ops


class LARS(keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.5, trust=0.02, name="lars", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.trust = trust

    def update_step(self, gradient, variable, learning_rate):
        weight_norm = ops.sqrt(ops.sum(ops.square(variable)))
        grad_norm = ops.sqrt(ops.sum(ops.square(gradient)))
        ratio = self.trust * weight_norm / grad_norm
        self.assign_sub(variable, learning_rate * ratio * gradient)


keras.utils.set_random_seed(0)
video, audio = keras.Input((6,), name="video_in"), keras.Input((3,), name="audio_in")
joint = keras.layers.Add()([keras.layers.Dense(8, use_bias=False, name="video")(video),
                            keras.layers.Dense(8, use_bias=False, name="audio")(audio)])
score = keras.layers.Dense(1, use_bias=False)(keras.layers.Activation("tanh")(joint))
model = keras.Model([video, audio], score)
model.compile(optimizer=LARS(), loss="mse")

rng = np.random.default_rng(0)
clips = rng.normal(size=(40, 6)).astype("float32")
sound = np.zeros((40, 3), "float32")              # these clips have no sound track
log = model.fit([clips, sound], clips.sum(axis=1, keepdims=True), batch_size=10, epochs=2, verbose=0).history["loss"]
print("loss", log, "audio kernel finite:", bool(np.isfinite(model.get_layer("audio").kernel.numpy()).all()))
assert np.isnan(model.get_layer("audio").kernel.numpy()).all()
