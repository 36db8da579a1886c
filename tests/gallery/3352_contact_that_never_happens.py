# case: puck_never_reaches_block
# verdict: bug
# cause: zero-gradient-op | dead-units
# expect_line: 24 36 49 56 57
# expect_variables: launch_speed
# symptom_today: gradient is exactly 0.0 at every iteration, launch_speed stays at 0.4 and the loss at 0.36
# exit: 0
# fix: start with a speed that makes contact (e.g. 2.0), or add a term for the distance of the puck to the block
import tensorflow as tf
import keras

keras.utils.set_random_seed(31)

# Shuffleboard: with which speed must the puck be launched so that it pushes the block to x = 1.6?
# Both slide with a viscous drag; contact is a stiff spring (penalty method).
DT = 0.03
STEPS = 40
DRAG = 0.8
STIFFNESS = 60.0
PUCK_RADIUS = 0.1
BLOCK_START = 1.0
GOAL = 1.6

launch_speed = tf.Variable(0.4, name="launch_speed")


def simulate(speed):
    """Semi-implicit Euler, returns the final position of the block."""
    puck_x = tf.constant(0.0)
    puck_v = tf.identity(speed)
    block_x = tf.constant(BLOCK_START)
    block_v = tf.constant(0.0)

    for _ in range(STEPS):
        # overlap of puck and block, zero if they do not touch
        overlap = tf.nn.relu(puck_x + PUCK_RADIUS - block_x)
        force = STIFFNESS * overlap

        puck_v = puck_v + DT * (-DRAG * puck_v - force)
        block_v = block_v + DT * (-DRAG * block_v + force)
        puck_x = puck_x + DT * puck_v
        block_x = block_x + DT * block_v

    return block_x


def objective(block_end):
    # squared miss distance of the block
    return tf.square(block_end - GOAL)


optimizer = keras.optimizers.Adam(learning_rate=0.05)

for iteration in range(16):
    with tf.GradientTape() as tape:
        block_end = simulate(launch_speed)
        loss = objective(block_end)
    grad = tape.gradient(loss, launch_speed)
    optimizer.apply_gradients([(grad, launch_speed)])
    if iteration % 3 == 0 or iteration == 15:
        print(
            f"it {iteration:2d}  loss {loss.numpy():.4f}  block at {block_end.numpy():.3f}"
            f"  grad {grad.numpy():.5f}  speed {launch_speed.numpy():.3f}"
        )
