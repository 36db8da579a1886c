"""Which modules of whygrad one missing gradient passes through, from `whygrad run` to the printed line.

python tools/life_of_a_gradient.py [--list] [--check]

Counts the modules in which at least one function was called, the rules themselves left out. TensorFlow must be there.
With `--check` the exit code is 1 where there are more than the limit, which may only be lowered.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import io
import os
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

LIMIT = (
    114  # modules: terms, child processes, signals, objectives, fixes, arguments, known and missing updates among them
)
PROGRAM = """
import tensorflow as tf

w = tf.Variable([0.3, 0.9], name="w")
v = tf.Variable([0.1, 0.2], name="v")
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.stop_gradient(w) * v)
print(tape.gradient(loss, [w, v]))
"""


def modules_entered() -> list[str]:
    """The modules, relative to the package, in the order of their first call."""
    import whygrad
    from whygrad.cli import main

    home = str(Path(whygrad.__file__).parent) + os.sep
    entered: dict[str, None] = {}

    def on_call(frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(home) and file not in entered and not _is_loading(frame, home):
            entered.setdefault(file)

    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(PROGRAM)
        sys.argv = ["whygrad", "run", str(script)]
        threading.setprofile(on_call)
        sys.setprofile(on_call)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
                main()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return [name for file in entered if not _is_rule(name := file[len(home) :])]


def _is_loading(frame: FrameType | None, home: str) -> bool:
    """Whether a module of ours is being imported: what runs then is no part of anything's life."""
    while frame is not None:
        if not frame.f_code.co_flags & inspect.CO_OPTIMIZED and frame.f_code.co_filename.startswith(home):
            return True  # the body of a module or class
        frame = frame.f_back
    return False


def _is_rule(name: str) -> bool:
    """One of the rules themselves: all of them are asked, whatever is missing."""
    parts = Path(name).parts
    return parts[0] == "rules" and len(parts) > 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name them")
    parser.add_argument("--check", action="store_true", help="exit with 1 where there are too many")
    options = parser.parse_args()
    found = modules_entered()
    if options.list:
        print(*found, sep="\n")
    print(f"{len(found)} modules (at most {LIMIT})")
    return int(options.check and len(found) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
