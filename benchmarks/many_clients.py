"""200 pages that follow a run while it is written: does a request fail, and is the run slowed down?

    python benchmarks/many_clients.py [--clients 200] [--rounds 8] [--seconds 5] [--together] [--keep]

A Keras training under `Monitor` runs in a process of its own, on one processor; `whygrad ui` and the clients, each of
which asks for what the page asks for every two seconds, on another: what is measured is what readers do to a writer,
not how a machine shares its processors out. `--together` lets all of them run everywhere. Stretches without clients,
with them and without again take turns; the figure is the median of the paired ratios of steps a second, and so is the
null; then the same for steps a second of processor time, which other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import http.client
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from first_view import Server, processor_seconds
from record import Row, record
from side_by_side import spread

PAUSE = 2.0  # seconds between two looks of a page
PATIENCE = 30.0  # seconds until a request counts as failed


def train(folder: str, counts: str) -> None:
    """Train until told to stop; the number of steps done is kept in a file that the parent reads."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import mmap

    import keras
    import tensorflow as tf

    from networks import endless, make
    from whygrad.training.monitor.monitor import Monitor

    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.disable_interactive_logging()
    model, batch = make("MLP", jit=False)
    monitor = Monitor(folder=folder)
    model.make_train_function()
    model.history = object()
    monitor.set_model(model)
    monitor.on_train_begin()
    stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    iterator = endless(batch)
    with open(counts, "r+b") as file, mmap.mmap(file.fileno(), 8) as shared:
        done = 0
        while not stop:
            model.train_function(iterator)
            done += 1
            shared[:] = done.to_bytes(8, "little")
    monitor.on_train_end()


class Client(threading.Thread):
    """One page that is open: it asks, waits, and asks again."""

    def __init__(self, link: str, run: str, number: int) -> None:
        super().__init__(daemon=True)
        self.place, self.run_id, self.number = urlsplit(link), run, number
        self.going = threading.Event()
        self.times: list[float] = []
        self.failures: list[str] = []

    def run(self) -> None:
        paths = [f"/api/runs/{self.run_id}{end}" for end in ("", "/scalars?track=adam", "/heat?track=adam")]
        connection: http.client.HTTPConnection | None = None
        time.sleep(PAUSE * (self.number % 97) / 97)  # people do not open pages at the same moment
        while True:
            self.going.wait()
            for path in paths:
                started = time.perf_counter()
                try:
                    connection = connection or http.client.HTTPConnection(self.place.netloc, timeout=PATIENCE)
                    connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
                    response = connection.getresponse()
                    response.read()
                    if response.status != 200:
                        self.failures.append(f"{path}: {response.status}")
                except OSError as error:
                    self.failures.append(f"{path}: {error!r}")
                    connection = None
                self.times.append(time.perf_counter() - started)
            time.sleep(PAUSE)


def clients(link: str, run: str, count: int) -> None:
    """The clients, in a process of their own: a line on standard input lets them go or holds them."""
    made = [Client(link, run, i) for i in range(count)]
    for each in made:
        each.start()
    for line in sys.stdin:
        for each in made:
            (each.going.set if line.strip() == "go" else each.going.clear)()
    time.sleep(PAUSE)
    times = sorted(seconds for each in made for seconds in each.times)
    failures = [text for each in made for text in each.failures]
    print(len(times), statistics.median(times), times[int(len(times) * 0.99)], len(failures))
    print("\n".join(failures[:5]), file=sys.stderr)


def rate(counts: Path, pid: int, seconds: float) -> tuple[float, float]:
    """Steps a second, and steps a second of processor time of the training."""

    def now() -> tuple[int, float, float]:
        return int.from_bytes(counts.read_bytes()[:8], "little"), time.perf_counter(), processor_seconds(pid)

    before = now()
    time.sleep(seconds)
    steps, passed, used = (after - earlier for after, earlier in zip(now(), before, strict=True))
    return steps / passed, steps / max(used, 1e-3)


def pinned(words: list[str], processor: int | None) -> list[str]:
    return words if processor is None else ["taskset", "-c", str(processor), *words]


def compare(options: argparse.Namespace) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    one, two = (None, None) if options.together else (0, 1)
    here = [sys.executable, __file__]
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts"
        counts.write_bytes(bytes(8))
        training = subprocess.Popen(pinned([*here, "--train", folder, str(counts)], one))
        while int.from_bytes(counts.read_bytes()[:8], "little") < 50:
            time.sleep(0.2)
        if two is not None:
            os.sched_setaffinity(0, {two})  # what is started from here on is there, too
        server = Server(Path(folder))
        run = next(Path(folder).glob("*.sqlite")).stem
        crowd = subprocess.Popen(
            [*here, "--serve-to", server.link, run, str(options.clients)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert crowd.stdin is not None
        found: list[tuple[tuple[float, float], ...]] = []
        try:
            time.sleep(3)
            for _ in range(options.rounds):
                first = rate(counts, training.pid, options.seconds)
                print("go", file=crowd.stdin, flush=True)
                time.sleep(PAUSE)
                busy = rate(counts, training.pid, options.seconds)
                print("hold", file=crowd.stdin, flush=True)
                time.sleep(PAUSE + 1)
                found.append((first, busy, *(rate(counts, training.pid, options.seconds) for _ in range(2))))
            said, _ = crowd.communicate(timeout=120)
            peak = server.memory("VmHWM")
        finally:
            for process in (crowd, training):
                process.kill()  # TensorFlow may take minutes to let go of an iterator that was used for long
                process.wait(30)
            server.stop()
    requests, median, late, failed = said.split()[:4]
    passed, used = (
        f"{spread([(a[i] + b[i]) / 2 / busy[i] for a, busy, b, _ in found])}, null"
        f" {spread([b[i] / c[i] for _, _, b, c in found])}"
        for i in range(2)
    )
    figure = (
        f"{passed}; by processor time {used}; {requests} requests, {failed} failed,"
        f" median {float(median) * 1e3:.0f} ms, 99 % within {float(late) * 1e3:.0f} ms; server at most {peak:.0f} MB;"
        f" {statistics.median(b[0] for _, _, b, _ in found):.0f} steps a second"
    )
    print(f"{options.clients} clients{', all on the same processors' if options.together else ''}: {figure}")
    if options.keep:
        what = f"{options.clients} pages that follow a run: what they cost the run"
        record([Row(section="`whygrad ui`", what=what, figure=figure, budget="1.01, none failed")])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--keep", action="store_true", help="write the figures to results.json")
    parser.add_argument("--train", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--serve-to", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train is not None:
        train(*options.train)
    elif options.serve_to is not None:
        clients(options.serve_to[0], options.serve_to[1], int(options.serve_to[2]))
    else:
        compare(options)


if __name__ == "__main__":
    main()
