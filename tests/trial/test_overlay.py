"""Modules, tracebacks and `inspect` see the texts of an overlay; the disk keeps its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import inspect, json, linecache, sys
from whygrad.trial.overlay import install

folder = sys.argv[1]
install({folder + "/lib/part.py": "def f():\\r\\n    return 'new'\\r\\n"})
sys.path.insert(0, folder)
import lib.part

linecache.checkcache()
linecache.updatecache(lib.part.__file__, vars(lib.part))
print(json.dumps([lib.part.f(), inspect.getsource(lib.part.f), lib.part.__file__, lib.__name__]))
"""


def test_a_module_is_loaded_from_its_text(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").write_text("")
    part = tmp_path / "lib" / "part.py"
    part.write_text("def f():\n    return 'old'\n")

    done = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == ["new", "def f():\n    return 'new'\n", str(part), "lib"]
    assert part.read_text() == "def f():\n    return 'old'\n"
    assert not list(tmp_path.rglob("part*.pyc"))


SPAWNING = """
import multiprocessing
from part import name


def work(queue):
    queue.put((name(), __file__, "on disk"))


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    print(*queue.get(timeout=60), sep="|")
    process.join()
"""
STARTING = """
import runpy, sys
from pathlib import Path
from whygrad.trial.overlay import hand_on, install
overlay = {each: Path(each).read_text().replace("on disk", "laid over") for each in sys.argv[1:3]}
install(overlay)
hand_on(overlay, Path("handed_on"))
exec(compile(overlay[sys.argv[1]], sys.argv[1], "exec"))
"""


def test_a_spawned_process_reads_the_texts_too(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(SPAWNING)
    (tmp_path / "part.py").write_text("def name():\n    return 'on disk'\n")
    # What multiprocessing runs again in the child is the main module by its path.
    start = STARTING.replace("exec(compile", "sys.modules['__main__'].__file__ = sys.argv[1]\nexec(compile")
    (tmp_path / "start.py").write_text(start)
    files = [str(tmp_path / "main.py"), str(tmp_path / "part.py")]

    done = subprocess.run(
        [sys.executable, "start.py", *files], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )

    assert done.stdout.strip() == f"laid over|{files[0]}|laid over", done.stderr
    assert (tmp_path / "part.py").read_text() == "def name():\n    return 'on disk'\n"
