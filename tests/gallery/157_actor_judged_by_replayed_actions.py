# case: actor_judged_by_replayed_actions
# verdict: bug; static: no
# cause: variable-not-in-loss
# expect_line: 41 42 43
# expect_variables: dense/*, dense_1/* (actor/*)
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: critic([states, actor(states)]) in the actor's loss
# seen: deterministic policy gradients where the replay actions are passed on
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)


def make_actor():
    s = keras.Input((4,))
    h = keras.layers.Dense(16, activation="relu")(s)
    return keras.Model(s, keras.layers.Dense(2, activation="tanh")(h), name="actor")


def make_critic():
    s, a = keras.Input((4,)), keras.Input((2,))
    h = keras.layers.Concatenate()([s, a])
    return keras.Model([s, a], keras.layers.Dense(1)(keras.layers.Dense(16, activation="relu")(h)), name="critic")


actor, critic = make_actor(), make_critic()
actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(2e-3)


@tf.function
def update(states, actions, targets):
    with tf.GradientTape() as tape:
        q = critic([states, actions], training=True)
        critic_loss = tf.reduce_mean(tf.square(targets - q))
    critic_grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(critic_grads, critic.trainable_variables))

    with tf.GradientTape() as tape:
        policy = actor(states, training=True)
        actor_loss = -tf.reduce_mean(critic([states, actions], training=True))
    actor_grads = tape.gradient(actor_loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(actor_grads, actor.trainable_variables))
    return critic_loss, actor_loss


print(update(tf.random.normal((8, 4), seed=1), tf.random.uniform((8, 2), -1, 1, seed=2), tf.ones((8, 1))))
