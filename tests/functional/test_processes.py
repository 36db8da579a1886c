"""Child processes and signals under `whygrad run`: what happened in them is said, or that it was not seen."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from functional.command import whygrad

pytestmark = pytest.mark.tensorflow

CHILDREN = """\
import multiprocessing, os, signal, sys

def train(n):
    import tensorflow as tf
    w = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        loss = tf.round(w) * n
    tape.gradient(loss, w)
    return n

if __name__ == "__main__":
    how, what = sys.argv[1:]
    context = multiprocessing.get_context(how)
    if what in ("pool", "terminated pool"):
        with context.Pool(1) as pool:
            assert pool.map(train, [1]) == [1]
            if what == "pool":
                pool.close()
                pool.join()
    else:
        child = context.Process(target=train, args=(1,))
        child.start()
        if what == "kill":
            os.kill(child.pid, signal.SIGKILL)
"""
TERMINATED = """\
import os, signal
import tensorflow as tf
w = tf.Variable(1.0)
try:
    with tf.GradientTape() as tape:
        loss = tf.round(w)
    tape.gradient(loss, w)
    os.kill(os.getpid(), signal.SIGTERM)
    print("not reached")
finally:
    print("nor is this, as under Python")
"""


@pytest.mark.parametrize(("how", "what"), [("fork", "start"), ("spawn", "start"), ("spawn", "pool")])
def test_what_is_found_in_a_child_process_is_in_the_report(tmp_path: Path, how: str, what: str) -> None:
    (tmp_path / "train.py").write_text(CHILDREN)
    done = whygrad(tmp_path, "run", "--no-keep", "--output-format", "json", "train.py", how, what)
    report = json.loads(done.out)

    assert [(each["rule"], each["location"]["line"]) for each in report["diagnostics"]] == [
        ("non-differentiable-op", 7)
    ]
    assert (report["run"]["requests"], report["run"]["children_not_watched"]) == (1, 0)


@pytest.mark.parametrize("what", ["kill", "terminated pool"])
def test_a_child_that_was_killed_is_said_to_be_not_watched(tmp_path: Path, what: str) -> None:
    (tmp_path / "train.py").write_text(CHILDREN)
    done = whygrad(tmp_path, "run", "--no-keep", "train.py", "spawn", what)

    assert "1 child process not watched" in done.err.splitlines()[-1]


def test_a_program_that_is_told_to_end_is_reported_and_ends_by_the_signal(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TERMINATED)
    done = whygrad(tmp_path, "run", "--no-keep", "train.py")

    assert (done.status, done.out) == (-signal.SIGTERM, "")
    assert done.err.splitlines()[-1] == "whygrad: 1 error; interrupted before its end"
