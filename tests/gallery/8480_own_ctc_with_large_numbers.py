# case: own_ctc_large_negative
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: unreachable states carry -1e9, so their log-sum-exp and its gradient are finite
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

PHONES, LABELS, FRAMES, BANDS = 4, 3, 12, 6     # class 0 is the blank
STATES = 2 * LABELS + 1
NEG = -1e9                                      # as good as log(0), but finite


def utterances(n):
    label = np.stack([rng.permutation(np.arange(1, PHONES + 1))[:LABELS] for _ in range(n)])
    sound = prototypes[np.repeat(label, FRAMES // LABELS, axis=1)] + 0.3 * rng.normal(size=(n, FRAMES, BANDS))
    return sound.astype("float32"), label.astype("int32")


def ctc_nll(log_probs, label):
    """CTC by the forward recursion, in the log domain. log_probs: (batch, frames, classes)."""
    blank = tf.zeros_like(label)
    lattice = tf.reshape(tf.stack([blank, label], axis=2), [-1, 2 * LABELS])
    lattice = tf.concat([lattice, blank[:, :1]], axis=1)                 # - a - b - c -
    emit = tf.einsum("btk,bsk->bts", log_probs, tf.one_hot(lattice, PHONES + 1))

    # a blank may be jumped over only between two different phones
    may_jump = (lattice[:, 2:] != 0) & (lattice[:, 2:] != lattice[:, :-2])
    jump_cost = tf.pad(tf.where(may_jump, 0.0, NEG), [[0, 0], [2, 0]])

    alpha = emit[:, 0] + tf.constant([0.0, 0.0] + [NEG] * (STATES - 2))
    for t in range(1, FRAMES):
        step = tf.pad(alpha[:, :-1], [[0, 0], [1, 0]], constant_values=NEG)
        jump = tf.pad(alpha[:, :-2], [[0, 0], [2, 0]], constant_values=NEG) + jump_cost
        alpha = tf.reduce_logsumexp(tf.stack([alpha, step, jump]), axis=0) + emit[:, t]
    return -tf.reduce_logsumexp(alpha[:, -2:], axis=1)


prototypes = rng.normal(size=(PHONES + 1, BANDS))
net = keras.Sequential([
    keras.Input((FRAMES, BANDS)),
    keras.layers.Conv1D(32, 3, padding="same", activation="elu"),
    keras.layers.Dense(PHONES + 1),
])
optimizer = keras.optimizers.Adam(1e-2)
optimizer.build(net.trainable_variables)

# the library's loss must agree with ours
sound, label = utterances(8)
theirs = tf.nn.ctc_loss(label, net(sound), [LABELS] * 8, [FRAMES] * 8, logits_time_major=False, blank_index=0)
ours = ctc_nll(tf.nn.log_softmax(net(sound)), tf.constant(label))
print("ours - theirs:", float(tf.reduce_max(tf.abs(ours - theirs))))


@tf.function
def train_step(sound, label):
    with tf.GradientTape() as tape:
        log_probs = tf.nn.log_softmax(net(sound, training=True))
        loss = tf.reduce_mean(ctc_nll(log_probs, label))
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss, tf.linalg.global_norm(grads)


for i in range(40):
    sound, label = utterances(32)
    loss, norm = train_step(sound, label)
    if i % 5 == 0:
        print(f"{i:3d}  ctc {float(loss):8.4f}  gradient norm {float(norm):8.4f}")
