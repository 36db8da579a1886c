# case: configuration_branches_while_tracing
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; Python branches and counters at trace time are meant (a fixed configuration, an unrolled loop, a count of traces)
# exit: 0
# fix: -
# source: own
import dataclasses
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


@dataclasses.dataclass(frozen=True)
class Config:
    depth: int = 3
    use_residual: bool = True
    label_smoothing: float = 0.1
    clip: float | None = 1.0


class Trainer:
    def __init__(self, config):
        self.config = config
        self.blocks = [keras.layers.Dense(8, activation="relu") for _ in range(config.depth)]
        self.head = keras.layers.Dense(3)
        self.opt = keras.optimizers.Adam(1e-2)
        self.traces = 0

    def forward(self, x):
        for i, block in enumerate(self.blocks):
            h = block(x)
            x = x + h if self.config.use_residual and i > 0 else h
        return self.head(x)

    @property
    def params(self):
        return [v for layer in (*self.blocks, self.head) for v in layer.trainable_variables]

    @tf.function
    def step(self, x, y):
        self.traces += 1                                   # counts the traces, on purpose
        target = tf.one_hot(y, 3)
        if self.config.label_smoothing:
            target = target * (1.0 - self.config.label_smoothing) + self.config.label_smoothing / 3
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=target, logits=self.forward(x)))
        grads = tape.gradient(loss, self.params)
        if self.config.clip is not None:
            grads, _ = tf.clip_by_global_norm(grads, self.config.clip)
        self.opt.apply_gradients(zip(grads, self.params))
        return loss


x = tf.random.normal((60, 8), seed=0)
y = tf.argmax(x[:, :3], axis=1)
trainer = Trainer(Config())
losses = [float(trainer.step(x, y)) for _ in range(30)]
assert losses[-1] < losses[0] and trainer.traces <= 3
print("ok", losses[0], losses[-1], "traces", trainer.traces)
