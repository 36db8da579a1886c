# case: critic_updated_before_the_generator_gradient
# verdict: bug; static: no
# cause: assign-between-forward-and-gradient
# expect_line: 31 32
# expect_variables: encoder/*
# symptom_today: silent: the second gradient belongs to weights that no longer exist
# exit: 0
# fix: take all gradients first, then apply them
# seen: two losses on one persistent tape, applied one after the other
import keras
import tensorflow as tf

keras.utils.set_random_seed(3)
encoder = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(4, activation="tanh")], name="encoder")
task = keras.layers.Dense(1, name="task")
domain = keras.layers.Dense(1, name="domain")
task.build((None, 4)), domain.build((None, 4))
task_vars = encoder.trainable_variables + task.trainable_variables
domain_vars = encoder.trainable_variables + domain.trainable_variables
task_opt, domain_opt = keras.optimizers.SGD(0.5), keras.optimizers.SGD(0.5)
task_opt.build(task_vars), domain_opt.build(domain_vars)
x = tf.random.normal((20, 5), seed=0)


@tf.function
def alternate(x):
    with tf.GradientTape(persistent=True) as tape:
        h = encoder(x, training=True)
        task_loss = tf.reduce_mean((task(h) - x[:, :1]) ** 2)
        domain_loss = tf.reduce_mean(tf.nn.softplus(domain(h)))
    task_opt.apply_gradients(zip(tape.gradient(task_loss, task_vars), task_vars))
    domain_opt.apply_gradients(zip(tape.gradient(domain_loss, domain_vars), domain_vars))
    del tape
    return task_loss + domain_loss


print([float(alternate(x)) for _ in range(3)])
