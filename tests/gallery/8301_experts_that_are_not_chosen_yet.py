# case: experts_that_are_not_chosen_yet
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: in the first stage only one expert is used, and the side head has no weight yet
# exit: 0
# fix: -
# source: own words, a mixture of experts with a schedule
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
layers = tf.keras.layers
trunk = layers.Dense(16, activation="relu")
side = tf.keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(1)])
experts = [tf.keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(1)]) for _ in range(3)]
x = tf.random.normal((64, 8))
y = tf.reduce_sum(x, 1, keepdims=True)
optimizer = tf.keras.optimizers.SGD(0.01)

@tf.function
def train(choice, side_weight):
    with tf.GradientTape() as tape:
        hidden = trunk(x)
        answers = tf.stack([expert(hidden) for expert in experts])
        answer = tf.einsum("eno,e->no", answers, tf.one_hot(choice, 3))
        loss = tf.reduce_mean((answer - y) ** 2) + side_weight * tf.reduce_mean((side(hidden) - y) ** 2)
    variables = [v for part in (trunk, side, *experts) for v in part.trainable_variables]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss

losses = [float(train(tf.constant(0), tf.constant(0.0))) for _ in range(30)]
print(losses[0], losses[-1])
assert losses[-1] < 0.8 * losses[0]
