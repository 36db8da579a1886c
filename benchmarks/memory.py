"""Memory while a long eager loop is watched: it must not grow with the number of steps.

python benchmarks/memory.py [--steps 100000]
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def resident() -> float:
    """MiB of this process, now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    options = parser.parse_args()
    import tensorflow as tf

    from record import Row, record
    from whygrad.watch import watch

    w = tf.Variable(tf.random.normal((4, 1)), name="w")
    x, y = tf.random.normal((8, 4)), tf.random.normal((8, 1))
    total = tf.zeros(())
    marks = []
    with watch() as run:
        for step in range(options.steps + 1):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
            w.assign_sub(0.001 * tape.gradient(loss, w))
            total = total + loss  # a chain that reaches back to the first step
            if step * 20 % options.steps == 0:
                marks.append((step, resident()))
    report = run.report()
    assert report.run["requests"] == options.steps + 1, report.run
    settled = [size for step, size in marks if step >= options.steps // 10]
    print(f"after {marks[2][0]:,} steps {settled[0]:.0f} MiB, after {marks[-1][0]:,} steps {settled[-1]:.0f} MiB")
    growth = settled[-1] - settled[0]
    print(f"growth after the first tenth: {growth:+.1f} MiB over {options.steps * 9 // 10:,} steps")
    where = f"an eager loop, last {options.steps * 9 // 10:,} of {options.steps:,} steps"
    figure = f"{growth:+.1f} MiB of {settled[-1]:.0f}"
    record([Row(section="memory", what="`whygrad run`", where=where, figure=figure, budget="flat", held=growth < 8)])


if __name__ == "__main__":
    main()
