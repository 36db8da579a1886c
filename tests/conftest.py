"""TensorFlow comes into a test through these fixtures only, so that the fast tests never pay for it.

The two runs of `make test` each open only the files that hold tests for them.
"""

from __future__ import annotations

import gc
import importlib
import linecache
import os
import runpy
import sys
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import versions
from keras_pair import Kit
from whygrad.diagnostics import Diagnostic, Severity
from whygrad.source import source_text
from whygrad.source.text import is_cell
from whygrad.watch import watch

pytest_plugins = ["pytester"]

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

# How long a random example takes says nothing on a machine that is busy.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")

FAST, SLOW = "not tensorflow", "tensorflow"  # the two values of `-m`

# The longest files, of half a minute or more, come first: no worker begins one of them when the others are done.
LONGEST = (
    *("rules/test_pages.py", "training/monitor/test_monitor_identity.py", "functional/test_fix.py"),
    *("functional/test_readme.py", "distribution/test_workers.py", "backends/tensorflow/test_step_numbers.py"),
    *("backends/tensorflow/test_missing_names.py", "backends/tensorflow/nonfinite/test_formula.py"),
    *("backends/tensorflow/test_undisturbed.py", "distribution/test_mirrored.py", "training/edit/test_transaction.py"),
    *("training/accumulation/test_accumulate_replicas.py", "training/accumulation/test_accumulate_saving.py"),
    *("mutants/test_sample.py", "backends/tensorflow/test_hooks.py", "functional/test_benchmarks.py"),
    *(
        "backends/tensorflow/test_misrouting.py",
        "functional/test_processes.py",
        "distribution/test_parameter_server.py",
    ),
)


@pytest.fixture(autouse=True)
def no_cells_of_other_tests() -> Generator[None]:
    """The cells that a test runs would be one notebook with those of the next."""
    yield
    for name in [name for name in linecache.cache if is_cell(name)]:
        del linecache.cache[name]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Whether a file has no test for this run; None: the other plugins decide."""
    run = config.getoption("markexpr")
    if run not in (FAST, SLOW) or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    none_for_fast = "\npytestmark = pytest.mark.tensorflow\n" in text
    none_for_slow = "pytest.mark.tensorflow" not in text
    return (none_for_fast if run == FAST else none_for_slow) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    root = Path(__file__).parent
    order = {root / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))


@pytest.fixture(autouse=True, scope="module")
def old_heap() -> Iterator[None]:
    """Traced graphs stay in memory for good: the collector need not walk through those of earlier files each time."""
    yield
    if "tensorflow" in sys.modules:
        gc.collect()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A file that imports TensorFlow at the top would make the fast tests wait for it: that is an error of the file."""
    before = "tensorflow" in sys.modules
    report = yield
    late = not before and "tensorflow" in sys.modules
    if late and isinstance(collector, pytest.Module) and collector.config.getoption("markexpr") == FAST:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} imports TensorFlow at the top, and the fast tests do without"
    return report


def _import_quietly(name: str) -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module(name)
    gc.freeze()  # the collector need not look at all of it again and again
    return module


@pytest.fixture(scope="session")
def tf() -> ModuleType:
    return _import_quietly("tensorflow")


@pytest.fixture(scope="session")
def keras(tf: ModuleType) -> ModuleType:
    return _import_quietly("keras")


@pytest.fixture(scope="session")
def tf_keras(tf: ModuleType) -> ModuleType:
    module = _import_quietly("tf_keras")
    if not versions.can_be_seeded(module):
        pytest.skip("this tf_keras cannot draw a seed with this Python")
    return module


HEAD = "import numpy as np\nimport tensorflow as tf\nimport keras\nw = tf.Variable([0.3, 0.9, 0.1], name='w')\n"


@pytest.fixture(autouse=True)
def ordinary_precision() -> Iterator[None]:
    """A program that sets a policy for the whole process leaves none behind."""
    yield
    for name in ("keras", "tf_keras"):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, "mixed_precision"):
            module.backend.set_floatx("float32")
            module.mixed_precision.set_global_policy("float32")


@pytest.fixture
def loud(tmp_path: Path, tf: Any, keras: Any) -> Any:
    """Run a program under watch; return its errors and warnings as (rule, underlined text)."""

    def run(program: str, head: str = HEAD) -> list[tuple[str, str | None]]:
        script = tmp_path / "program.py"
        script.write_text(head + program)
        with watch() as run:
            try:
                runpy.run_path(str(script), run_name="__main__")
            except Exception as error:
                run.failed(error)
        return [(d.rule, _underlined(d)) for d in run.report().diagnostics if d.severity > Severity.NOTE]

    return run


def _underlined(diagnostic: Diagnostic) -> str | None:
    return None if diagnostic.primary is None else source_text(diagnostic.primary.span)


@pytest.fixture(params=["keras", "tf_keras"])
def kit(request: pytest.FixtureRequest) -> Kit:
    """Keras 3, then tf_keras, both working in float64 (until `ordinary_precision` ends that)."""
    kit = Kit(request.getfixturevalue(request.param), old=request.param == "tf_keras")
    kit.keras.backend.set_floatx("float64")
    kit.keras.mixed_precision.set_global_policy("float64")  # once one was set, layers ask it and not `floatx`
    return kit
