"""The examples: each broken one is broken as it says, each mended one learns."""

from __future__ import annotations

import importlib.util
import re
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import whygrad
from whygrad.diagnostics import Severity

EXAMPLES = Path(__file__).parents[3] / "examples" / "sampling"

# Below this the model has learned. Untrained, each starts several times higher.
LEARNED = {
    "vae": 0.05,
    "categorical_vae": 0.3,
    "vq_vae": 0.2,
    "gan": 0.25,
    "wgan_gp": 0.15,
    "bandit": 0.05,
    "tokens": 0.05,
}
RAISES = {
    "gan": "No gradients provided for any variable",
    "wgan_gp": r"convert a value \(None\)",
    "bandit": "No gradients provided for any variable",
    "tokens": "No gradients provided for any variable",
}
FREEZES = {"vae": "encoder", "categorical_vae": "encoder", "vq_vae": "encoder"}


def load(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def weights(models: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: model.get_weights() for name, model in models.items()}


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", LEARNED)
def test_the_mended_example_learns_with_all_its_parts(keras: ModuleType, name: str) -> None:
    example = load(f"{name}_mended")
    models = example.build()
    before = weights(models)

    history = example.train(models)

    assert np.mean(history[-20:]) < LEARNED[name] < 0.5 * history[0]
    for part, now in weights(models).items():
        assert not any(np.array_equal(old, new) for old, new in zip(before[part], now, strict=True)), part


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", RAISES)
def test_the_broken_example_stops_with_an_error_that_does_not_name_the_line(keras: ModuleType, name: str) -> None:
    example = load(f"{name}_broken")

    with pytest.raises(ValueError, match=RAISES[name]):
        example.train(example.build())


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", FREEZES)
def test_the_broken_example_trains_without_its_encoder(keras: ModuleType, name: str) -> None:
    example = load(f"{name}_broken")
    models = example.build()
    before = weights(models)

    with pytest.warns(UserWarning, match="Gradients do not exist for variables"):
        example.train(models)

    after = weights(models)
    frozen = FREEZES[name]
    assert all(np.array_equal(old, new) for old, new in zip(before[frozen], after[frozen], strict=True))
    for part in models.keys() - {frozen}:
        assert not any(np.array_equal(old, new) for old, new in zip(before[part], after[part], strict=True))


def loud(name: str) -> set[tuple[str, str, int]]:
    """Rule, file and line of every error and warning a few steps of an example get."""
    example = load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Keras, about variables without a gradient
        report = whygrad.explain(lambda: example.train(example.build(), 3))
    spans = {d.rule: d.primary and d.primary.span for d in report.diagnostics if d.severity >= Severity.WARNING}
    return {(rule, Path(span.file).stem if span else "", span.line if span else 0) for rule, span in spans.items()}


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", LEARNED)
def test_the_diagnosis_of_a_broken_example_points_at_the_marked_line(keras: ModuleType, name: str) -> None:
    lines = (EXAMPLES / f"{name}_broken.py").read_text().splitlines()
    number, cut = next((i, line) for i, line in enumerate(lines, 1) if "# cut: " in line)

    assert (cut.split("# cut: ")[1], f"{name}_broken", number) in loud(f"{name}_broken")


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", LEARNED)
def test_a_mended_example_gets_no_error_and_no_warning(keras: ModuleType, name: str) -> None:
    assert loud(f"{name}_mended") == set()


@pytest.mark.parametrize("name", LEARNED)
def test_a_broken_example_marks_the_one_line_that_cuts(name: str) -> None:
    broken, mended = ((EXAMPLES / f"{name}_{kind}.py").read_text() for kind in ("broken", "mended"))

    assert len(re.findall(r"  # cut: [a-z-]+$", broken, re.MULTILINE)) == 1
    assert "# cut:" not in mended


def test_every_example_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {f"{n}_{k}" for n in LEARNED for k in ("broken", "mended")}
