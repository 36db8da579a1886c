"""Commands in forks of one process that has imported TensorFlow: a second each instead of five.

For tests of what is said about a program; those of how a process starts and ends are in `command`.
"""

from __future__ import annotations

import atexit
import functools
import json
import subprocess
import sys
import textwrap
from pathlib import Path

from functional.command import ENVIRONMENT, Done

# Forks for each line that it reads, and tells the exit status; the fork leaves the loop, becomes the command, and ends
# without taking the interpreter down: with TensorFlow in it that takes longer than most commands.
SERVER = textwrap.dedent("""
    import atexit, gc, json, os, runpy, sys, traceback
    import keras, tensorflow
    from whygrad import rules, watch

    rules.all_rules()
    gc.freeze()  # a fork need not look through all of this again
    for line in sys.stdin:
        child = os.fork()
        if not child:
            break
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    else:
        os._exit(0)

    order = json.loads(line)
    os.chdir(order["folder"])
    for number, name in enumerate([os.devnull, order["out"], order["err"]]):
        os.dup2(os.open(name, os.O_RDWR), number)
    sys.stdin = open(0)
    sys.argv = order["words"]
    status = 0
    try:
        if sys.argv[0] == "-m":
            del sys.argv[0]
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = order["folder"]
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as leaving:
        status = leaving.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(status)
""")


def python(folder: Path, *words: str) -> Done:
    """What `python WORDS` leaves; the words are `-m MODULE ...` or `SCRIPT ...`."""
    out, err = folder.parent / f"{folder.name}.out", folder.parent / f"{folder.name}.err"
    out.write_text("")
    err.write_text("")
    order = {"folder": str(folder), "words": words, "out": str(out), "err": str(err)}
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    print(json.dumps(order), file=server.stdin, flush=True)
    status = int(server.stdout.readline())
    return Done(status, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


def whygrad(folder: Path, *words: str) -> Done:
    return python(folder, "-m", "whygrad", *words)


@functools.cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    atexit.register(server.communicate)
    return server
