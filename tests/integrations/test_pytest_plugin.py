"""The plugin in sessions of its own, on a test file that trains."""

from __future__ import annotations

from types import ModuleType

import pytest

pytestmark = pytest.mark.tensorflow

SUITE = """
import pytest
import tensorflow as tf

@pytest.fixture
def w():
    return tf.Variable(2.0, name="w")

def step(w, cut):
    with tf.GradientTape() as tape:
        loss = w * 3.0
        if cut:
            loss = tf.stop_gradient(loss)
    return tape.gradient(loss, w)

def test_healthy(w):
    assert step(w, cut=False) is not None

def test_cut(w):
    assert step(w, cut=True) is None

def test_cut_again(w):
    assert step(w, cut=True) is None

def test_no_training():
    assert 1 + 1 == 2
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, tf: ModuleType) -> pytest.Pytester:
    pytester.makepyfile(SUITE)
    return pytester


def test_one_cause_is_told_once_with_the_tests_that_show_it(suite: pytest.Pytester) -> None:
    result = suite.runpytest_inprocess("--whygrad")

    result.assert_outcomes(passed=4)
    result.stdout.re_match_lines(
        [
            r"=+ whygrad =+",
            r"error\[WG\d+\]: .*`w`",
            r" +--> .*test_one_cause_\w+\.py:12:20",
            r"  = seen in: .*::test_cut, .*::test_cut_again",
            r"whygrad: 1 error in 4 tests",
        ]
    )
    assert result.stdout.str().count("error[WG") == 1


def test_fail_on_fails_the_tests_that_show_it(suite: pytest.Pytester) -> None:
    result = suite.runpytest_inprocess("--whygrad-fail-on=error")

    result.assert_outcomes(passed=2, failed=2)
    result.stdout.re_match_lines([r"_+ test_cut _+", r"error\[WG\d+\]: .*"])


def test_a_finding_is_explained_once_where_it_fails_tests(suite: pytest.Pytester) -> None:
    result = suite.runpytest_inprocess("--whygrad-fail-on=error")

    assert result.stdout.str().count("the gradient stops here") == 1
    result.stdout.re_match_lines([r"  = explained at: .*::test_cut", r"=+ whygrad =+", r"error\[WG103\]: .*"])


def test_the_configuration_of_the_project_is_read(suite: pytest.Pytester) -> None:
    suite.makepyprojecttoml("[tool.whygrad]\nignore = ['stop-gradient']\n")
    result = suite.runpytest_inprocess("--whygrad-fail-on=error")

    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["whygrad: no problem found in 4 tests"])


def test_a_configuration_that_cannot_be_read_is_two_lines(suite: pytest.Pytester) -> None:
    suite.makepyprojecttoml("[tool.whygrad]\nignroe = []\n")
    result = suite.runpytest_subprocess("--whygrad")

    result.stderr.fnmatch_lines(["ERROR: unknown key `ignroe` in [[]tool.whygrad[]] of *", "help: known: select*"])


def test_an_assertion_that_fails_shows_no_line_of_whygrad(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_assertion="""
        import tensorflow as tf
        from whygrad.testing import assert_all_gradients

        def test_cut():
            w = tf.Variable(2.0, name="w")

            def step():
                with tf.GradientTape() as tape:
                    loss = tf.stop_gradient(w * 3.0)
                return tape.gradient(loss, w)

            assert_all_gradients(step)
        """
    )
    result = suite.runpytest_inprocess("test_assertion.py")

    result.stdout.fnmatch_lines(["E *MissingGradientError: no gradient reaches `w`"])
    assert "raise MissingGradientError" not in result.stdout.str()


def test_failing_test_keeps_its_own_traceback(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_own="""
        import tensorflow as tf
        def test_wrong():
            w = tf.Variable(2.0)
            with tf.GradientTape() as tape:
                loss = w * 3.0
            assert tape.gradient(loss, w) is None
        """
    )

    result = suite.runpytest_inprocess("--whygrad", "--whygrad-fail-on=warning", "test_own.py")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E * assert *is None", "whygrad: no problem found in 1 test"])


def test_findings_of_xdist_workers_arrive(suite: pytest.Pytester) -> None:
    result = suite.runpytest_subprocess("--whygrad", "-n", "1")

    result.assert_outcomes(passed=4)
    result.stdout.re_match_lines([r"error\[WG\d+\]: .*`w`", r"whygrad: 1 error in 4 tests"])


def test_nothing_is_watched_or_said_without_the_option(suite: pytest.Pytester) -> None:
    result = suite.runpytest_inprocess()

    result.assert_outcomes(passed=4)
    result.stdout.no_fnmatch_line("*= whygrad =*")
    result.stdout.no_fnmatch_line("whygrad:*")


def test_failure_inside_whygrad_fails_no_test(suite: pytest.Pytester) -> None:
    suite.makeconftest(
        """
        from whygrad.integrations import pytest_session
        def broken(**options):
            raise RuntimeError("broken on purpose")
        pytest_session.watch = broken
        """
    )

    result = suite.runpytest_subprocess("--whygrad-fail-on=error")

    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["whygrad: warning: a test was not watched: RuntimeError: broken on purpose"])


def test_fixture_explains_and_watches(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_fixture="""
        import tensorflow as tf
        def step(w):
            with tf.GradientTape() as tape:
                loss = tf.stop_gradient(w * 3.0)
            return tape.gradient(loss, w)

        def test_explain(whygrad):
            report = whygrad.explain(step, tf.Variable(2.0, name="w"))
            assert [d.rule for d in report.diagnostics] == ["stop-gradient"]

        def test_watch(whygrad):
            with whygrad.watch() as run:
                step(tf.Variable(2.0, name="w"))
            assert [d.rule for d in run.report().diagnostics] == ["stop-gradient"]

        def test_failing(whygrad):
            with whygrad.watch() as run:
                step(tf.Variable(2.0, name="w"))
            assert run.report().worst is None
        """
    )

    result = suite.runpytest_inprocess("test_fixture.py")

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.re_match_lines([r"-+ Captured whygrad call -+", r"error\[WG\d+\]: .*`w`"])
