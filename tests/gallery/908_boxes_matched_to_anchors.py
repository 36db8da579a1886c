# case: boxes_matched_to_anchors
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: object detection: integer matching for the targets, suppression for the display
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(7)
anchors = tf.constant([[x, y, x + 0.3, y + 0.3] for x in (0.0, 0.35, 0.7) for y in (0.0, 0.35, 0.7)], tf.float32)


def iou(a, b):
    low, high = tf.maximum(a[:, None, :2], b[None, :, :2]), tf.minimum(a[:, None, 2:], b[None, :, 2:])
    both = tf.reduce_prod(tf.maximum(high - low, 0.0), axis=-1)
    size = lambda box: tf.reduce_prod(box[:, 2:] - box[:, :2], axis=-1)
    return both / (size(a)[:, None] + size(b)[None] - both)


inputs = keras.Input((12, 12, 1))
maps = keras.layers.Conv2D(8, 3, strides=2, activation="relu")(inputs)
maps = keras.layers.Flatten()(maps)
offsets = keras.layers.Reshape((9, 4))(keras.layers.Dense(36)(maps))
scores = keras.layers.Dense(9)(maps)
detector = keras.Model(inputs, [offsets, scores])
opt, huber = keras.optimizers.Adam(0.005), keras.losses.Huber(reduction="none")


@tf.function
def step(images, boxes):
    best = tf.argmax(iou(boxes, anchors), axis=1)
    positive = tf.one_hot(best, 9)
    wanted = boxes[:, None] - anchors[None]
    with tf.GradientTape() as tape:
        offsets, scores = detector(images, training=True)
        box_loss = tf.reduce_sum(huber(wanted, offsets) * positive) / tf.reduce_sum(positive)
        score_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(positive, scores))
        loss = box_loss + score_loss
    grads = tape.gradient(loss, detector.trainable_variables)
    opt.apply_gradients(zip(grads, detector.trainable_variables))
    return loss


def show(image):
    offsets, scores = detector(image[None])
    kept = tf.image.non_max_suppression(anchors + offsets[0], scores[0], 3, iou_threshold=0.5)
    return tf.gather(anchors + offsets[0], kept).numpy()


rng = np.random.default_rng(7)
corner = rng.uniform(0, 0.6, size=(16, 2)).astype("float32")
boxes = np.hstack([corner, corner + 0.3]).astype("float32")
images = np.zeros((16, 12, 12, 1), "float32")
for i, (x0, y0) in enumerate((corner * 12).astype(int)):
    images[i, x0 : x0 + 4, y0 : y0 + 4] = 1.0
losses = [float(step(images, boxes)) for _ in range(15)]
print(losses[0], losses[-1], show(images[0]).shape)
assert losses[-1] < losses[0]
