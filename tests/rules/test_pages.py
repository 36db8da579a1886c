"""A rule's page cannot lie: its examples are run under capture, and TensorFlow itself is asked."""

from __future__ import annotations

import linecache
import runpy
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from recording_checks import verify
from whygrad.diagnostics import Severity
from whygrad.graph import Recording
from whygrad.graph.codec import dump, load
from whygrad.rules import Rule, all_rules
from whygrad.watch import Report, explain_recording, watch

pytestmark = pytest.mark.tensorflow

by_code = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
by_heading = pytest.mark.parametrize("heading", ["Example", "Use instead"])


@dataclass
class Ran:
    """What came of running one fenced block as a script."""

    report: Report
    recording: Recording
    script: Path
    words: str  # what the recording says while the script is there
    names: dict[str, Any] = field(default_factory=dict)  # empty where it raised
    raised: Exception | None = None

    @property
    def loud(self) -> set[str]:
        """The codes that a healthy program must not get."""
        return {found.code for found in self.report.diagnostics if found.severity >= Severity.WARNING}

    @property
    def gradients(self) -> list[Any]:
        return list(self.names.get("gradients", ()))


def run_block(code: str, folder: Path) -> Ran:
    script = folder / "example.py"
    script.write_text(code)
    names: dict[str, Any] = {}
    raised = None
    try:
        with watch() as run:
            names = runpy.run_path(str(script))
    except Exception as error:
        raised = error
    recording = run.recording()
    return Ran(run.report(), recording, script, str(explain_recording(recording)), names, raised)


Runs = Callable[[Rule, str], Ran]


@pytest.fixture(scope="module")
def ran(keras: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Each block is run once for all tests of this file."""
    done: dict[tuple[str, str], Ran] = {}

    def once(rule: Rule, heading: str) -> Ran:
        key = (rule.code, heading)
        if key not in done:
            done[key] = run_block(rule.example(heading), tmp_path_factory.mktemp(rule.code))
        return done[key]

    return once


WITH_CAUSE = {"WG412": ["WG408"], "WG506": ["WG401"]}  # what goes wrong first is told too


@by_code
def test_example_triggers_its_own_rule_and_no_other(rule: Rule, ran: Runs) -> None:
    report = ran(rule, "Example").report

    quiet = rule.severity < Severity.WARNING
    assert ran(rule, "Example").loud == (set() if quiet else {rule.code, *WITH_CAUSE.get(rule.code, ())})
    assert rule.code in {found.code for found in report.diagnostics}
    assert all(found.primary is not None and found.help for found in report.diagnostics)


@pytest.mark.parametrize(
    "rule", [rule for rule in all_rules() if rule.code.startswith("WG1")], ids=lambda rule: rule.code
)
def test_tensorflow_agrees_that_the_gradient_is_missing(rule: Rule, ran: Runs) -> None:
    assert any(gradient is None for gradient in ran(rule, "Example").gradients)


@by_code
def test_suggested_code_is_clean_and_gives_a_gradient(rule: Rule, ran: Runs) -> None:
    mended = ran(rule, "Use instead")

    assert mended.raised is None
    assert mended.loud == set()
    assert all(gradient is not None for gradient in mended.gradients)
    # `fit` takes the gradients out of sight: there the capture must have seen them.
    assert mended.gradients or any(reach.reached and not reach.missing for reach in mended.report.gradients)


@by_code
def test_what_is_inferred_says_likely(rule: Rule, ran: Runs) -> None:
    inferred = [found.message for found in ran(rule, "Example").report.diagnostics if not found.certain]

    assert all("likely" in message for message in inferred)


@by_heading
@by_code
def test_what_was_captured_is_sound(rule: Rule, heading: str, ran: Runs) -> None:
    assert verify(ran(rule, heading).recording) == []


@by_heading
@by_code
def test_stored_recording_is_explained_in_the_same_words_where_the_script_is_gone_or_another(
    rule: Rule, heading: str, ran: Runs
) -> None:
    done = ran(rule, heading)
    stored = load(dump(done.recording), Recording)
    for other in ("", "# a\n# script\n# about other things\n" * 40):
        done.script.unlink(missing_ok=True)
        if other:
            done.script.write_text(other)
        linecache.clearcache()
        assert str(explain_recording(stored)) == done.words
        assert str(stored.ledger) == str(done.recording.ledger)
    assert "\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}" not in done.words, "a word that no backend has"


def test_the_tests_above_can_fail(keras: ModuleType, tmp_path: Path) -> None:
    first = all_rules()[0]

    assert run_block(first.example("Example"), tmp_path).loud != set()
    assert None in run_block(first.example("Example"), tmp_path).gradients
    assert run_block(first.example("Use instead"), tmp_path).loud != {first.code}
    assert run_block("1 / 0", tmp_path).raised is not None
