# case: pucks_hit_their_blocks
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; all pucks touch their block, the relu of the contact passes a gradient and the loss falls
# exit: 0
# fix: -
import tensorflow as tf
import keras

keras.utils.set_random_seed(32)

# Shuffleboard with three lanes: find the launch speed of each puck so that its block stops at the goal
# of the lane. Contact is a one-sided spring, so most of the time the force is zero.
DT = 0.03
STEPS = 40
DRAG = 0.8
STIFFNESS = 60.0
PUCK_RADIUS = 0.1

block_start = tf.constant([0.6, 0.7, 0.8])
goal = tf.constant([1.2, 1.5, 1.4])
launch_speed = tf.Variable([1.5, 1.6, 2.6], name="launch_speed")


def simulate(speed):
    """Semi-implicit Euler for all lanes at once, returns the final positions of the blocks."""
    puck_x = tf.zeros(3)
    puck_v = tf.identity(speed)
    block_x = block_start
    block_v = tf.zeros(3)

    for _ in range(STEPS):
        # overlap of puck and block, zero if they do not touch
        overlap = tf.nn.relu(puck_x + PUCK_RADIUS - block_x)
        force = STIFFNESS * overlap

        puck_v = puck_v + DT * (-DRAG * puck_v - force)
        block_v = block_v + DT * (-DRAG * block_v + force)
        puck_x = puck_x + DT * puck_v
        block_x = block_x + DT * block_v

    return block_x


optimizer = keras.optimizers.Adam(learning_rate=0.03)

for iteration in range(24):
    with tf.GradientTape() as tape:
        block_end = simulate(launch_speed)
        loss = tf.reduce_mean(tf.square(block_end - goal))
    grad = tape.gradient(loss, launch_speed)
    optimizer.apply_gradients([(grad, launch_speed)])
    if iteration % 4 == 0 or iteration == 23:
        print(f"it {iteration:2d}  loss {loss.numpy():.5f}  blocks {block_end.numpy().round(3)}  speed {launch_speed.numpy().round(3)}")
