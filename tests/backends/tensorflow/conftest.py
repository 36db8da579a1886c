from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backends.tensorflow.keras_pair import Kit
from whygrad.diagnostics import Diagnostic, Severity
from whygrad.source import source_text
from whygrad.watch import watch

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
def kit(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Keras 3, then tf_keras, both working in float64."""
    kit = Kit(request.getfixturevalue(request.param), old=request.param == "tf_keras")
    before = kit.keras.backend.floatx()
    kit.keras.backend.set_floatx("float64")
    yield kit
    kit.keras.backend.set_floatx(before)
