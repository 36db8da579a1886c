# case: policy_gradient_by_hand
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: REINFORCE with sampled actions and a baseline
import keras
import tensorflow as tf

keras.utils.set_random_seed(8)
policy = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(3)])
opt = keras.optimizers.Adam(0.05)


@tf.function
def improve(states):
    with tf.GradientTape() as tape:
        logits = policy(states, training=True)
        actions = tf.random.categorical(logits, 1)[:, 0]
        reward = tf.cast(actions == 1, tf.float32)
        baseline = tf.reduce_mean(reward)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        loss = -tf.reduce_mean(logp * tf.stop_gradient(reward - baseline))
    grads = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(grads, policy.trainable_variables))
    return baseline


states = tf.random.normal((64, 2), seed=8)
rewards = [float(improve(states)) for _ in range(25)]
print(rewards[0], rewards[-1])
assert rewards[-1] > rewards[0]
