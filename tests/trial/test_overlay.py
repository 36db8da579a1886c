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
