# case: half_precision_segment_loop
# verdict: bug
# cause: loss-scale-missing
# expect_line: 78 79
# expect_variables: *
# symptom_today: loss stays where it started although gradients are fine; the optimizer divides them by 32768
# exit: 0
# fix: differentiate optimizer.scale_loss(loss) inside the tape, as compile/fit does
"""Mixed-precision segmentation of small pictures in an own loop (ported from fit)."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(77)
keras.mixed_precision.set_global_policy("mixed_float16")

CFG = {
    "size": 12,
    "batch": 32,
    "epochs": 3,
    "optimizer": {"name": "sgd", "lr": 0.1, "momentum": 0.9, "clip": 1.0},
}


def blobs(n, seed):
    rng = np.random.default_rng(seed)
    size = CFG["size"]
    r, c = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    centre = rng.uniform(2, size - 2, (2, n, 1, 1))
    radius = rng.uniform(1.5, 3.5, (n, 1, 1))
    mask = ((r - centre[0]) ** 2 + (c - centre[1]) ** 2 < radius ** 2).astype("float32")
    image = mask + 0.5 * rng.normal(size=mask.shape)
    return image[..., None].astype("float32"), mask[..., None]


def conv(x, filters, name):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False, name=name)(x)
    x = layers.GroupNormalization(2, name=name + "_norm")(x)
    return layers.Activation("relu")(x)


def unet():
    image = keras.Input((CFG["size"], CFG["size"], 1))
    fine = conv(image, 6, "fine")
    coarse = conv(layers.MaxPooling2D(2)(fine), 8, "coarse")
    merged = layers.Concatenate()([fine, layers.UpSampling2D(2)(coarse)])
    logits = layers.Conv2D(1, 1, name="logits")(conv(merged, 6, "merge"))
    return keras.Model(image, layers.Activation("linear", dtype="float32")(logits), name="unet")


def make_optimizer(name, lr, momentum, clip):
    assert name == "sgd"
    inner = keras.optimizers.SGD(lr, momentum=momentum, global_clipnorm=clip)
    if keras.mixed_precision.dtype_policy().compute_dtype == "float16":
        return keras.optimizers.LossScaleOptimizer(inner, initial_scale=2.0 ** 15, dynamic_growth_steps=500)
    return inner


class Loop:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.mean_loss = keras.metrics.Mean()
        self.iou = keras.metrics.BinaryIoU(target_class_ids=[1], threshold=0.0)

    def objective(self, masks, logits):
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=masks, logits=logits))

    @tf.function
    def step(self, images, masks):
        with tf.GradientTape() as tape:
            logits = self.model(images, training=True)
            loss = self.objective(masks, logits)
        variables = self.model.trainable_variables
        grads = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(grads, variables))
        self.mean_loss.update_state(loss)
        self.iou.update_state(masks, logits)
        return tf.linalg.global_norm(grads)

    def epoch(self, data):
        self.mean_loss.reset_state()
        self.iou.reset_state()
        norms = [float(self.step(images, masks)) for images, masks in data]
        return float(self.mean_loss.result()), float(self.iou.result()), float(np.mean(norms))


data = tf.data.Dataset.from_tensor_slices(blobs(320, seed=1)).batch(CFG["batch"])
model = unet()
optimizer = make_optimizer(**CFG["optimizer"])
start = [v.numpy() for v in model.trainable_variables]
loop = Loop(model, optimizer)
losses = []
for epoch in range(CFG["epochs"]):
    loss, iou, norm = loop.epoch(data)
    losses.append(loss)
    print(f"epoch {epoch}  loss {loss:.4f}  iou {iou:.3f}  gradient norm {norm:.4f}")
    assert norm > 1e-2

moved = max(float(np.max(np.abs(a - v.numpy()))) for a, v in zip(start, model.trainable_variables))
print(f"largest change of any weight {moved:.2e}  loss scale {float(optimizer.dynamic_scale.numpy()):.0f}")
assert abs(losses[-1] - losses[0]) < 0.01 and moved < 1e-2

# the same loss, scaled, moves the weights at once
images, masks = next(iter(data))


@tf.function
def scaled_step():
    with tf.GradientTape() as tape:
        scaled = optimizer.scale_loss(loop.objective(masks, model(images, training=True)))
    optimizer.apply_gradients(zip(tape.gradient(scaled, model.trainable_variables), model.trainable_variables))


for _ in range(15):
    scaled_step()
after = float(loop.objective(masks, model(images, training=True)))
print(f"after 15 scaled steps on one batch {after:.4f}")
assert after < 0.8 * losses[-1]
