# case: shared_trunk_stepped_before_the_policy_gradient
# verdict: bug; static: no
# cause: assign-between-forward-and-gradient
# expect_line: 32 30 33
# expect_variables: trunk/*
# symptom_today: silent: the policy gradient is that of the trunk before the value step
# exit: 0
# fix: take both gradients first, then apply, or one apply of the summed loss
# source: microsoft/FQF#3 (gradient of older weights applied to newer ones)
import tensorflow as tf
import keras

keras.utils.set_random_seed(29)
trunk = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(16, activation="tanh")], name="trunk")
policy = keras.Sequential([keras.layers.Input((16,)), keras.layers.Dense(3)], name="policy")
value = keras.Sequential([keras.layers.Input((16,)), keras.layers.Dense(1)], name="value")
actor_opt, critic_opt = keras.optimizers.Adam(0.02), keras.optimizers.Adam(0.02)
state = tf.random.normal((32, 4))
action = tf.random.uniform((32,), 0, 3, dtype=tf.int32)
returns = tf.random.normal((32,), mean=2.0)

for update in range(5):
    with tf.GradientTape() as actor_tape, tf.GradientTape() as critic_tape:
        shared = trunk(state, training=True)
        baseline = tf.squeeze(value(shared), axis=-1)
        critic_loss = tf.reduce_mean(tf.square(returns - baseline))
        log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(action, policy(shared))
        actor_loss = -tf.reduce_mean(log_prob * tf.stop_gradient(returns - baseline))
    critic_vars = trunk.trainable_variables + value.trainable_variables
    critic_opt.apply_gradients(zip(critic_tape.gradient(critic_loss, critic_vars), critic_vars))
    actor_vars = trunk.trainable_variables + policy.trainable_variables
    actor_grads = actor_tape.gradient(actor_loss, actor_vars)
    actor_opt.apply_gradients(zip(actor_grads, actor_vars))
    print(update, float(critic_loss), float(actor_loss))
