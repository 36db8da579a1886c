"""All rules of the family together, on random programs: nothing missing goes unexplained, nothing else is blamed."""

from __future__ import annotations

from hypothesis import given

from graph.strategies import programs
from whygrad.graph import Outcome, Recording
from whygrad.rules import all_rules, diagnose

FAMILY = tuple(rule for rule in all_rules() if rule.code.startswith("WG1"))


@given(programs())
def test_every_missing_gradient_is_explained_and_no_other(recording: Recording) -> None:
    [request] = recording.requests
    missing = {
        recording.variables[source.variable].name
        for source in request.sources
        if source.variable is not None and source.outcome is Outcome.MISSING
    }

    assert {name for found in diagnose(recording, FAMILY) for name in found.variables} == missing
