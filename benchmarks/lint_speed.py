"""Lint against TorchFix on the same files, in one interleaved run; the cache; the start; a keystroke.

python benchmarks/lint_speed.py FOLDER [--torchfix PATH] [--files N] [--rounds N]

Times are those of whole commands, processes and all, on all cores; the ratio is that of the best rounds. Without
TorchFix (0.7, `pip install torchfix`) only lint is measured.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from whygrad.lint.files.checking import check_bytes

WHYGRAD = [
    sys.executable,
    "-m",
    "whygrad",
    "lint",
    "--exit-zero",
    "--output-format",
    "json",
    "--output-file",
    "out.json",
]


def copied(folder: Path, count: int, into: Path) -> list[Path]:
    """A random sample of files that mention the framework, without folders around them.

    Each ends with a comment that names what TorchFix looks for: it passes over files that do not.
    """
    files = [path for path in sorted(folder.rglob("*.py")) if b"tensorflow" in path.read_bytes()]
    chosen = random.Random(0).sample(files, min(count, len(files)))
    made = [Path(shutil.copy(path, into / f"{n:05}_{path.name}")) for n, path in enumerate(chosen)]
    for path in made:
        path.write_bytes(path.read_bytes() + b"\n# torch\n")
    return made


def seconds(command: list[str], folder: Path) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def keystroke() -> float:
    """From a text of 2,000 lines to its diagnostics, as the language server does it; seconds, the best of five."""
    step = (
        "def step_{n}(x, y):\n    with tf.GradientTape() as tape:\n        out = net(x, training=True)\n"
        "        loss = tf.reduce_mean(tf.square(out - y))\n    grads = tape.gradient(loss, net.trainable_variables)\n"
        "    opt.apply_gradients(zip(grads, net.trainable_variables))\n    return loss\n\n\n"
    )
    head = "import tensorflow as tf\nimport keras\nnet = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])\n"
    text = head + "opt = keras.optimizers.Adam()\n" + "".join(step.format(n=n) for n in range(222))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        check_bytes("train.py", text.encode())
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--torchfix", default=shutil.which("torchfix"))
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        files = copied(options.folder, options.files, work)
        lines = sum(path.read_bytes().count(b"\n") for path in files)
        cold, warm, other, start = [], [], [], []
        (work / "empty").mkdir()
        (work / "empty" / "empty.py").write_text("")
        for _ in range(options.rounds):
            shutil.rmtree(work / ".whygrad", ignore_errors=True)
            cold.append(seconds([*WHYGRAD, "."], work))
            warm.append(seconds([*WHYGRAD, "."], work))
            start.append(seconds([*WHYGRAD, "--no-cache", "empty"], work))
            if options.torchfix:
                other.append(seconds([options.torchfix, "--select=ALL", "."], work))
    print(f"{len(files)} files, {lines} lines, best of {options.rounds}")
    print(f"lint without cache  {min(cold):7.2f} s  {1000 * min(cold) / len(files):6.1f} ms a file")
    print(f"lint with cache     {min(warm):7.2f} s  {min(cold) / min(warm):6.1f} times faster")
    print(f"lint, empty file    {min(start):7.2f} s")
    print(f"keystroke           {1000 * keystroke():7.0f} ms for 2,000 lines")
    if other:
        print(f"TorchFix            {min(other):7.2f} s  {min(other) / min(cold):6.1f} times as long as lint")


if __name__ == "__main__":
    main()
