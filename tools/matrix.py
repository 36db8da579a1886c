"""Tests and gallery on other versions: `make matrix`.

    python tools/matrix.py [--only NAME ...] [--python VERSION ...] [--smoke | --oldest] [--jobs 2] [--table]

Each environment is a virtual one in `.matrix/`, made once from the versions in `tools/versions/`, for each Python that
can be found. What came out is kept in tools/versions/results.json, from which the table in docs/versions.md is written.
`--smoke` runs the examples of all rules and nothing else; `--table` only writes the table. `--oldest` is what CI asks:
does every rule still fire on its example with the oldest versions, on this Python? It writes nothing down.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
VERSIONS = ROOT / "tools" / "versions"
RESULTS, PAGE = VERSIONS / "results.json", ROOT / "docs" / "versions.md"
HOME = ROOT / ".matrix"
NEEDED = [
    "pytest",
    "pytest-xdist",
    "hypothesis",
    "werkzeug",
    "ipython",
    "jsonschema",
    "pandas",
    "pyarrow",
    "tensorboard",
]
EXAMPLES = ("tests/rules/test_pages.py", "--dist", "worksteal")  # each worker runs the examples of its own tests
FIRES = "test_example_triggers_its_own_rule_and_no_other"
START, END = "<!-- versions: written by tools/matrix.py -->", "<!-- end of versions -->"


class Environment(NamedTuple):
    """Some versions, and the Pythons that they run on."""

    name: str
    versions: str  # a file of tools/versions
    pythons: tuple[str, ...]
    legacy: bool = False  # `tf.keras` is tf_keras, that is Keras 2


ENVIRONMENTS = (
    Environment("TensorFlow 2.16, Keras 3.3", "tensorflow-2.16-keras-3.3.txt", ("3.11", "3.12")),
    Environment("TensorFlow 2.18", "tensorflow-2.18.txt", ("3.11", "3.12")),
    Environment("TensorFlow 2.21, newest Keras", "tensorflow-2.21.txt", ("3.11", "3.12", "3.13")),
    Environment("TensorFlow 2.21, tf_keras", "tensorflow-2.21.txt", ("3.11",), legacy=True),
)


def interpreter(version: str) -> str | None:
    """A Python of this version; pyenv's are found without being switched on."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if version == here:
        return sys.executable
    known = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"))
    return str(known[-1]) if known else shutil.which(f"python{version}")


def made(environment: Environment, python: str, version: str) -> Path:
    """The Python of the virtual environment, which is made where it is not there yet."""
    folder = HOME / f"{Path(environment.versions).stem}-python-{version}"
    inside, stamp = folder / "bin" / "python", folder / "complete"
    wanted = f"{(VERSIONS / environment.versions).read_text(encoding='utf-8')}{' '.join(NEEDED)}\n"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return inside
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    pip = [inside, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    pinned = ["--constraint", str(VERSIONS / environment.versions)]
    subprocess.run([*pip, *pinned, "tensorflow-cpu", "keras", *NEEDED, "--editable", str(ROOT)], check=True)
    subprocess.run([*pip, *pinned, "--no-deps", "tf_keras"], check=True)
    stamp.write_text(wanted, encoding="utf-8")
    return inside


def run(python: Path, legacy: bool, *words: str) -> tuple[str, float]:
    """What a command of ours printed, whatever its end, and how long it took."""
    settings = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "PYTHONDONTWRITEBYTECODE": "1"}
    if legacy:
        settings["TF_USE_LEGACY_KERAS"] = "1"
    began = time.monotonic()
    done = subprocess.run(
        [python, *words], cwd=ROOT, env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr, time.monotonic() - began


def tested(python: Path, environment: Environment, jobs: int, *words: str) -> dict[str, object]:
    """Counts of pytest, and the names of what failed; warnings of other versions are no errors."""
    quiet = ("-o", "filterwarnings=default", "-p", "no:cacheprovider", "-n", str(jobs), "--dist", "loadfile", "-rfE")
    told, seconds = run(python, environment.legacy, "-m", "pytest", *quiet, *words)
    counts = {name: int(count) for count, name in re.findall(r"(\d+) (passed|failed|skipped|error)", told)}
    failed = sorted(set(re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", told, re.MULTILINE)))
    if not counts:
        failed = [told[-500:]]
    return {"counts": counts, "failed": failed, "seconds": round(seconds)}


def scored(python: Path, environment: Environment, jobs: int) -> dict[str, object]:
    told, seconds = run(python, environment.legacy, "tests/score_gallery.py", "--jobs", str(jobs))
    found = re.search(r"(\d+) of (\d+) pass", told)
    surprises = re.findall(r"^(\d{3,4}_\w*): (.*)$", told, re.MULTILINE)
    passed, of = (int(found[1]), int(found[2])) if found else (0, 0)
    return {"passed": passed, "of": of, "surprises": dict(surprises), "seconds": round(seconds)}


def missing(python: Path) -> list[str]:
    """What is lost where a private name is not there."""
    told, _ = run(
        python,
        False,
        "-c",
        "import json; from whygrad.backends import capabilities; print(json.dumps(capabilities('tensorflow')[1]))",
    )
    found = [line for line in told.splitlines() if line.startswith("{")]
    return sorted(set(json.loads(found[-1]).values())) if found else ["it cannot be imported"]


def rows(only: list[str], pythons: list[str], smoke: bool, jobs: int) -> Iterator[dict[str, object]]:
    for environment in ENVIRONMENTS:
        if only and environment.name not in only:
            continue
        for version in environment.pythons:
            if pythons and version not in pythons:
                continue
            python = interpreter(version)
            row: dict[str, object] = {"environment": environment.name, "python": version}
            print(f"{environment.name}, Python {version}", file=sys.stderr, flush=True)
            if python is None:
                yield row | {"absent": True}
                continue
            inside = made(environment, python, version)
            row["missing"] = missing(inside)
            if smoke:
                yield row | {"examples": tested(inside, environment, jobs, *EXAMPLES)}
                continue
            row["tests"] = tested(inside, environment, jobs, "-m", "tensorflow")
            yield row | {"gallery": scored(inside, environment, jobs)}


def oldest(jobs: int) -> int:
    """How many examples of rules go wrong with the oldest versions."""
    environment, version = ENVIRONMENTS[0], f"{sys.version_info.major}.{sys.version_info.minor}"
    if version not in environment.pythons:
        print(f"{environment.name} has no Python {version}: nothing to try")
        return 0
    inside = made(environment, sys.executable, version)
    found = tested(inside, environment, jobs, *EXAMPLES, "-k", FIRES)
    lost = "; ".join(missing(inside)) or "nothing"
    print(f"{environment.name}, Python {version}: {told(found)} in {found['seconds']} s; lost: {lost}")
    failed = found["failed"]
    assert isinstance(failed, list)
    print(*failed, sep="\n", end="\n" * bool(failed))
    return len(failed)


def kept() -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    return found


def keep(row: dict[str, object]) -> None:
    """The newest of each environment counts; what this run did not look at stays."""
    known = {(each["environment"], each["python"]): each for each in kept()}
    key = (row["environment"], row["python"])
    known[key] = known.get(key, {}) | row
    order = [(each.name, version) for each in ENVIRONMENTS for version in each.pythons]
    listed = [known[key] for key in order if key in known]
    RESULTS.write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def table() -> str:
    lines = ["| | Python | tests with TensorFlow | gallery | examples of rules | lost |", "|" + " --- |" * 6]
    for row in kept():
        if row.get("absent"):
            lines.append(f"| {row['environment']} | {row['python']} | not tried: no such Python here | – | – | – |")
            continue
        tests, gallery, examples = row.get("tests"), row.get("gallery"), row.get("examples")
        lost = "; ".join(map(str, row.get("missing") or ())) or "nothing"  # type: ignore[call-overload]
        scores = "–" if not isinstance(gallery, dict) else f"{gallery['passed']} of {gallery['of']}"
        cells = (row["environment"], row["python"], told(tests), scores, told(examples), lost)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def told(found: object) -> str:
    """Counts in words."""
    if not isinstance(found, dict):
        return "–"
    counts = found["counts"]
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), reverse=True)) or "did not run"


def page() -> str:
    """The page of versions, with the table as it should be."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    return f"{before}{START}\n{table()}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="names of environments")
    parser.add_argument("--python", nargs="*", default=[], metavar="VERSION")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--oldest", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.oldest:
        return 1 if oldest(options.jobs) else 0
    bad = 0
    for row in () if options.table else rows(options.only, options.python, options.smoke, options.jobs):
        keep(row)
        for name in ("tests", "examples"):
            part = row.get(name)
            bad += len(part["failed"]) if isinstance(part, dict) else 0
        print(json.dumps(row, ensure_ascii=False)[:400], flush=True)
    PAGE.write_text(page(), encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
