# case: curvature_by_two_tapes
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: Hessian-vector products and a Newton step
import tensorflow as tf

w = tf.Variable([1.5, -0.5, 2.0], name="w")
a = tf.constant([[3.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])


def energy(v):
    return 0.5 * tf.tensordot(v, tf.linalg.matvec(a, v), 1) + 0.1 * tf.reduce_sum(v**4)


def hessian_vector(vector):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            value = energy(w)
        slope = inner.gradient(value, w)
        along = tf.tensordot(slope, tf.stop_gradient(vector), 1)
    return outer.gradient(along, w)


def newton():
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            value = energy(w)
        slope = inner.gradient(value, w)
    hessian = outer.jacobian(slope, w)
    w.assign_sub(tf.linalg.solve(hessian, slope[:, None])[:, 0])
    return float(value), hessian


v = tf.constant([1.0, 0.0, -1.0])
hv = hessian_vector(v)
values = []
for _ in range(4):
    value, hessian = newton()
    values.append(value)
print(values, hv.numpy())
assert values[-1] < values[0]
