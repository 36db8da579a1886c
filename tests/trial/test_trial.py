"""Verdicts on changes, and the search for those that help, with programs that are told and not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from whygrad.diagnostics import Diagnostic, Edit, Fix, FixSafety, Label, Severity
from whygrad.errors import UsageError
from whygrad.source import SourceSpan
from whygrad.trial.changes import Changes
from whygrad.trial.search import search
from whygrad.trial.sighting import Ending, GradientState, Sighting, dump, load
from whygrad.trial.verdict import judge
from whygrad.trial.writing import write

TEXT = "a = 1\r\nb = round(w)  # größe\r\nc = stop(b)\r\n"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "train.py"
    path.write_bytes(TEXT.encode())
    return str(path)


def fix(file: str, line: int, old: str, new: str, safety: FixSafety = FixSafety.SAFE) -> Fix:
    column = TEXT.splitlines()[line - 1].index(old)
    return Fix(title=new, edits=(Edit(SourceSpan(file, line, column, line, column + len(old)), new),), safety=safety)


def finding(file: str, line: int, *fixes: Fix, code: str = "WG101", variables: tuple[str, ...] = ("w",)) -> Diagnostic:
    primary = Label(SourceSpan(file, line, 4, line, 8), "here")
    message = f"no gradient reaches `w` ({line})"
    return Diagnostic(
        code=code,
        rule="rule",
        severity=Severity.ERROR,
        message=message,
        primary=primary,
        variables=variables,
        fixes=fixes,
    )


def seen(
    file: str, *found: Diagnostic, state: GradientState = GradientState.NONE, text: str = TEXT, **more
) -> Sighting:  # type: ignore[no-untyped-def]
    recorded = "\n".join(line.rstrip("\r\n") for line in text.splitlines())
    options = {"steps": 3, "losses": (1.0, 0.5, 0.25), "sources": {file: recorded}, **more}
    return Sighting(diagnostics=found, gradients={"w": state}, **options)


GOOD = GradientState.GOOD


def test_what_a_run_showed_survives_the_way_to_another_process(file: str) -> None:
    sighting = seen(file, finding(file, 2, fix(file, 2, "round(w)", "w")), ending=Ending(status=1, error="E: x"))

    assert load(dump(sighting)) == sighting


def test_verified_where_the_finding_is_gone_and_the_gradient_came(file: str) -> None:
    bad = finding(file, 2)
    verdict = judge(seen(file, bad), seen(file, state=GOOD), bad)

    assert verdict.is_verified
    assert verdict.evidence == (
        "WG101 is gone, and nothing new is found",
        "`w` gets a gradient that is finite and not zero (before: none)",
        "the program ran to its end as before (3 steps)",
        "the loss over 3 steps: before 1 to 0.25, after 1 to 0.25",
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"state": GradientState.NONE}, "`w` still gets no gradient"),
        ({"state": GradientState.ZERO}, "`w` still gets a gradient that is zero"),
        ({"ending": Ending(status=1, error="ValueError: x")}, "the changed program ended with ValueError: x"),
        ({"ending": Ending(late=True, stopped=True)}, "the changed program took too long"),
        ({"losses": (1.0, float("nan"))}, "the loss of the changed program is not finite"),
        ({"steps": 0}, "the changed program asks for no gradient"),
        ({"watched": False}, "the changed program could not be watched"),
    ],
)
def test_not_verified_where_anything_else_is_wrong(file: str, change: dict, reason: str) -> None:  # type: ignore[type-arg]
    bad = finding(file, 2)
    verdict = judge(seen(file, bad), seen(file, **{"state": GOOD, **change}), bad)

    assert not verdict.is_verified
    assert reason in verdict.against


def test_a_gradient_that_stays_zero_is_no_objection_where_a_value_was_not_finite(file: str) -> None:
    bad, zero = finding(file, 2, code="WG409"), GradientState.ZERO
    assert judge(seen(file, bad, state=zero), seen(file, state=zero), bad).is_verified
    missing = finding(file, 2)
    assert not judge(seen(file, missing, state=zero), seen(file, state=zero), missing).is_verified


def test_not_verified_where_another_variable_has_lost_its_gradient(file: str) -> None:
    bad = finding(file, 2)
    before = Sighting(diagnostics=(bad,), gradients={"w": GradientState.NONE, "v": GOOD}, steps=1)
    after = Sighting(gradients={"w": GOOD, "v": GradientState.NONE}, steps=1)

    assert judge(before, after, bad).against == ("`v` has lost its gradient",)


def test_findings_that_were_there_before_do_not_count(file: str) -> None:
    bad, other = finding(file, 2), finding(file, 3, code="WG301", variables=())
    assert judge(seen(file, bad, other), seen(file, other, state=GOOD), bad).is_verified

    new = finding(file, 1, code="WG301", variables=())
    assert not judge(seen(file, bad, other), seen(file, other, new, state=GOOD), bad).is_verified


def test_one_fix_is_put_on_top_of_another_where_it_reveals_the_next(file: str) -> None:
    first = finding(file, 2, fix(file, 2, "round(w)", "w"))
    second = finding(file, 3, fix(file, 3, "stop(b)", "b"), code="WG103")

    def run(changes: Changes) -> Sighting:
        text = changes.texts[file]
        if "stop" in text:
            return seen(file, second, text=text)
        return seen(file, state=GOOD, text=text)

    [attempt] = search(seen(file, first), run)

    assert attempt.verdict.is_verified
    assert [each.title for each in attempt.fixes] == ["w", "b"]
    assert attempt.after.texts[file] == "a = 1\r\nb = w  # größe\r\nc = b\r\n"
    assert "-b = round(w)  # größe\r\n+b = w  # größe\r\n" in attempt.diff.replace("-c = stop(b)\r\n", "")


def test_the_next_candidate_is_tried_where_one_does_not_help(file: str) -> None:
    bad = finding(file, 2, fix(file, 2, "round", "floor"), fix(file, 2, "round(w)", "w"))
    shown = finding(file, 2, fix(file, 2, "round", "never", FixSafety.DISPLAY_ONLY))

    def run(changes: Changes) -> Sighting:
        text = changes.texts[file]
        return seen(file, finding(file, 2), text=text) if "floor" in text else seen(file, state=GOOD, text=text)

    assert [attempt.verdict.is_verified for attempt in search(seen(file, bad), run)] == [True]
    assert list(search(seen(file, shown), run)) == []


def test_a_healthy_program_is_not_run_again(file: str) -> None:
    def run(changes: Changes) -> Sighting:
        raise AssertionError

    assert list(search(seen(file, state=GOOD), run)) == []


def test_a_changed_program_goes_as_far_as_the_first_run_and_a_little_further_where_that_broke_off(file: str) -> None:
    assert seen(file).enough is None
    assert seen(file, ending=Ending(stopped=True)).enough == 3
    assert seen(file, ending=Ending(stopped=True, late=True)).enough is None
    assert seen(file, ending=Ending(status=1, error="ValueError: x")).enough == 11


def test_a_file_that_changed_since_the_run_is_refused(file: str) -> None:
    ran = seen(file, finding(file, 2))
    Path(file).write_bytes(TEXT.replace("a = 1", "a = 2").encode())

    with pytest.raises(UsageError, match="has changed since it ran"):
        Changes().with_fix(fix(file, 2, "round(w)", "w"), ran.sources)


def test_a_change_that_does_not_compile_is_refused(file: str) -> None:
    with pytest.raises(UsageError, match="cannot be made"):
        Changes().with_fix(fix(file, 2, "round(w)", "w +"), seen(file).sources)


def test_changes_are_written_whole_and_only_to_what_was_run(file: str) -> None:
    Path(file).chmod(0o755)
    changes = Changes().with_fix(fix(file, 2, "round(w)", "w"), seen(file).sources)
    assert Path(file).read_bytes() == TEXT.encode()

    assert write(changes) == (file,)
    assert Path(file).read_bytes() == TEXT.replace("round(w)", "w").encode()
    assert Path(file).stat().st_mode & 0o777 == 0o755
    assert [each.name for each in Path(file).parent.iterdir()] == ["train.py"]

    with pytest.raises(UsageError, match="has changed since it ran"):
        write(changes)
