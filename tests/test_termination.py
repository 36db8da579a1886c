from __future__ import annotations

import signal
import subprocess
import sys

from whygrad.termination import at_termination

PROGRAM = """
import os, signal
from whygrad.termination import at_termination
with at_termination(lambda: print("said", flush=True)):
    os.kill(os.getpid(), signal.SIGTERM)
    print("not reached")
"""


def test_something_is_said_before_the_signal_ends_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "said\n")


def test_the_handler_is_put_back() -> None:
    with at_termination(lambda: None):
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL

    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_handler_of_the_programs_own_is_left_alone() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with at_termination(lambda: None):
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
