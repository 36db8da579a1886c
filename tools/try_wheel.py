"""Install the wheel of a folder into an empty environment, and use it there as somebody without TensorFlow would.

python tools/try_wheel.py dist
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PROGRAM = """import tensorflow as tf

w = tf.Variable(1.0)
with tf.GradientTape() as tape:
    loss = tf.stop_gradient(w * w)
print(tape.gradient(loss, w))
"""


def main() -> None:
    [wheel] = Path(sys.argv[1]).resolve().glob("*.whl")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        binaries = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        _run(folder, str(binaries / "python"), "-m", "pip", "install", "--quiet", str(wheel))
        (folder / "train.py").write_text(PROGRAM)
        command = str(binaries / "whygrad")
        _expect(folder, [command, "--version"], 0, "whygrad")
        _expect(folder, [command, "rules"], 0, "WG101")
        _expect(folder, [command, "explain", "WG103"], 0, "stop_gradient")
        _expect(folder, [command, "doctor"], None, "TensorFlow")
        _expect(folder, [command, "lint", "train.py"], 1, "WL")
        _expect(folder, [command, "run", "train.py"], None, "pip install tensorflow")
    print(f"{wheel.name}: installs and works without TensorFlow")


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def _expect(folder: Path, words: list[str], status: int | None, said: str) -> None:
    done = _run(folder, *words)
    if (status is not None and done.returncode != status) or said not in done.stdout + done.stderr:
        sys.exit(f"{' '.join(words[1:])} gave {done.returncode}, without `{said}`:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
