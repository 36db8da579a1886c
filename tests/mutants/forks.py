"""Work done in a process of its own, whose answer comes back as JSON."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

Answer = dict[str, Any]
Task = TypeVar("Task")


def prepare() -> None:
    """Once, before the first fork: import all, and run no op, since TensorFlow's threads do not live in a fork."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import keras  # noqa: F401
    import tensorflow  # noqa: F401

    from whygrad.report import render  # noqa: F401
    from whygrad.watch import watch  # noqa: F401

    gc.freeze()


def in_fork(work: Callable[[], Answer], seconds: float, folder: str) -> Answer:
    """What the work returns; `{"ended": ...}` alone where it takes too long or gives no answer."""
    out, child = _start(lambda: json.dumps(work()).encode(), folder)
    parts: list[bytes] = []
    until, ended = time.monotonic() + seconds, "no answer"
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([out], [], [], left)[0]:
            os.kill(child, signal.SIGKILL)
            ended, parts = "timeout", []
            break
        part = os.read(out, 1 << 16)
        if not part:
            break
        parts.append(part)
    os.close(out)
    os.waitpid(child, 0)
    return json.loads(b"".join(parts)) if parts else {"ended": ended}


def side_by_side(work: Callable[[Task], Iterator[Answer]], tasks: Sequence[Task], jobs: int) -> Iterator[Answer]:
    """The answers to all tasks, as they come, from so many workers at once; a worker is a fork."""
    waiting = list(reversed(tasks))
    running: dict[int, tuple[int, bytearray]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            task = waiting.pop()
            out, child = _start_lines(work, task)
            running[out] = (child, bytearray())
        for out in select.select(list(running), [], [])[0]:
            child, text = running[out]
            piece = os.read(out, 1 << 16)
            text += piece
            while b"\n" in text:
                line, _, rest = bytes(text).partition(b"\n")
                text[:] = rest
                yield json.loads(line)
            if not piece:
                os.close(out)
                os.waitpid(child, 0)
                del running[out]


def _start_lines(work: Callable[[Task], Iterator[Answer]], task: Task) -> tuple[int, int]:
    def answer(into: int) -> None:
        for each in work(task):
            _write(into, json.dumps(each).encode() + b"\n")

    return _fork(answer)


def _start(work: Callable[[], bytes], folder: str) -> tuple[int, int]:
    def answer(into: int) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.chdir(folder)
        _write(into, work())

    return _fork(answer)


def _fork(answer: Callable[[int], None]) -> tuple[int, int]:
    """Fork; the end of the pipe that the answer comes out of, and the process id."""
    sys.stdout.flush()
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(out)
            answer(into)
        finally:
            os._exit(0)
    os.close(into)
    return out, child


def _write(into: int, text: bytes) -> None:
    while text:
        text = text[os.write(into, text) :]
