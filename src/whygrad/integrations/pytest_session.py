"""`pytest --whygrad`: each test is watched, and what was found is reported once at the end."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from whygrad.config import Config, find_config
from whygrad.diagnostics import Diagnostic, Severity
from whygrad.errors import UsageError
from whygrad.notice import warning
from whygrad.report import render_diagnostic
from whygrad.rules import selection_of
from whygrad.watch import Run, watch

_RUN: Final = pytest.StashKey[tuple[contextlib.ExitStack, Run]]()
_FOUND: Final = pytest.StashKey[list[dict[str, Any]]]()
_MOST_TESTS: Final = 3
_COLORS: Final = {Severity.ERROR: {"red": True}, Severity.WARNING: {"yellow": True}}


@dataclass
class _Seen:
    """One cause, and the tests that show it."""

    severity: int
    text: str
    failed: bool = False  # a test, whose failure shows the text already
    tests: list[str] = field(default_factory=list)


class SessionWatch:
    """A test is watched from its set-up to the end of its call; notes are left out, a session would drown in them.

    What a test shows travels in its report, as plain data, so that it arrives from the workers of pytest-xdist too.
    """

    def __init__(self, config: pytest.Config) -> None:
        settings = _settings(config.rootpath)
        limit = config.getoption("--whygrad-fail-on") or settings.fail_on
        self._fail_on = None if limit == "never" else Severity.parse(limit)
        self._selection = selection_of(settings.select, settings.ignore)
        self._explained: dict[tuple[Any, ...], str] = {}  # cause -> the first test that failed by it
        self._seen: dict[tuple[Any, ...], _Seen] = {}
        self._tests: set[str] = set()
        self._trouble: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        stack = contextlib.ExitStack()
        with self._harmless():
            item.stash[_RUN] = stack, stack.enter_context(watch(selection=self._selection))
        yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        try:
            yield
        except Exception as error:
            if _RUN in item.stash:
                item.stash[_RUN][1].failed(error)
            self._finish(item)
            raise
        self._fail(item, self._finish(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        self._finish(item)  # where the set-up failed, or the call was left by Ctrl-C
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.when == "call":
            report.whygrad = item.stash.get(_FOUND, [])  # type: ignore[attr-defined]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self._tests.add(report.nodeid)
        for found in getattr(report, "whygrad", ()):
            seen = self._seen.setdefault(tuple(found["cause"]), _Seen(found["severity"], found["text"]))
            seen.failed |= report.failed and found["severity"] >= (self._fail_on or Severity.ERROR + 1)
            seen.tests.append(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("whygrad")
        for seen in sorted(self._seen.values(), key=lambda seen: -seen.severity):
            headline, _, details = seen.text.partition("\n")
            terminalreporter.write_line(headline, bold=True, **_COLORS[Severity(seen.severity)])
            if not seen.failed:
                terminalreporter.write_line(details)
            terminalreporter.write_line(f"  = seen in: {_few(seen.tests)}\n")
        for trouble in dict.fromkeys(self._trouble):
            terminalreporter.write_line(warning(f"a test was not watched: {trouble}"))
        terminalreporter.write_line(f"whygrad: {self._counts()} in {_plural(len(self._tests), 'test')}")

    def _finish(self, item: pytest.Item) -> list[Diagnostic]:
        found: list[Diagnostic] = []
        if _RUN not in item.stash:
            return found
        stack, run = item.stash[_RUN]
        del item.stash[_RUN]
        with self._harmless():
            stack.close()
            found = [d for d in run.report().diagnostics if d.severity >= Severity.WARNING]
            item.stash[_FOUND] = [_as_data(diagnostic) for diagnostic in found]
        return found

    def _fail(self, item: pytest.Item, found: list[Diagnostic]) -> None:
        """Fail the test by what was found; what an earlier failure has explained is named only."""
        __tracebackhide__ = True
        bad = [d for d in found if self._fail_on is not None and d.severity >= self._fail_on]
        texts = []
        for each in map(_as_data, bad):
            first = self._explained.setdefault(tuple(each["cause"]), item.nodeid)
            headline = each["text"].partition("\n")[0]
            texts.append(each["text"] if first == item.nodeid else f"{headline}\n  = explained at: {first}")
        if texts:
            pytest.fail("\n\n".join(texts), pytrace=False)

    @contextlib.contextmanager
    def _harmless(self) -> Generator[None, None, None]:
        """A failure of ours is reported at the end and fails no test."""
        try:
            yield
        except Exception as error:
            self._trouble.append(f"{type(error).__name__}: {error}")

    def _counts(self) -> str:
        found = Counter(Severity(seen.severity) for seen in self._seen.values())
        return ", ".join(_plural(found[s], s.label) for s in sorted(found, reverse=True)) or "no problem found"


def _settings(folder: Path) -> Config:
    """What `[tool.whygrad]` of the project says."""
    try:
        return find_config(folder)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def _as_data(diagnostic: Diagnostic) -> dict[str, Any]:
    span = None if diagnostic.primary is None else diagnostic.primary.span
    place = [diagnostic.message] if span is None else [span.file, span.line, span.column or 0]
    return {
        "cause": [diagnostic.code, *place],
        "severity": int(diagnostic.severity),
        "text": render_diagnostic(diagnostic),
    }


def _few(tests: list[str]) -> str:
    rest = len(tests) - _MOST_TESTS
    return ", ".join(tests[:_MOST_TESTS]) + (f" and {rest} more" if rest > 0 else "")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
