# case: separate_steps_for_actor_and_critic_on_one_trunk
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import tensorflow as tf
import keras

keras.utils.set_random_seed(111)
trunk = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(16, activation="tanh")], name="trunk")
policy = keras.Sequential([keras.layers.Input((16,)), keras.layers.Dense(3)], name="policy")
value = keras.Sequential([keras.layers.Input((16,)), keras.layers.Dense(1)], name="value")
actor_opt, critic_opt = keras.optimizers.Adam(0.01), keras.optimizers.Adam(0.01)
state = tf.random.normal((32, 4))
action = tf.random.uniform((32,), 0, 3, dtype=tf.int32)
returns = tf.random.normal((32,), mean=2.0)


@tf.function
def update():
    with tf.GradientTape() as critic_tape:
        critic_loss = tf.reduce_mean(tf.square(returns - tf.squeeze(value(trunk(state)), -1)))
    critic_vars = trunk.trainable_variables + value.trainable_variables
    critic_opt.apply_gradients(zip(critic_tape.gradient(critic_loss, critic_vars), critic_vars))
    with tf.GradientTape() as actor_tape:                       # a fresh forward pass
        shared = tf.stop_gradient(trunk(state))                 # the trunk belongs to the critic
        advantage = returns - tf.squeeze(value(shared), -1)
        log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(action, policy(shared))
        actor_loss = -tf.reduce_mean(log_prob * tf.stop_gradient(advantage))
    grads = actor_tape.gradient(actor_loss, policy.trainable_variables)
    actor_opt.apply_gradients(zip(grads, policy.trainable_variables))
    return critic_loss


values = [float(update()) for _ in range(25)]
print(values[0], values[-1])
assert values[-1] < values[0]
