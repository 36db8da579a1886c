"""pytest: the fixture `whygrad`, and `--whygrad` to watch a whole session. Loading it imports nothing heavy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from whygrad.report import Report
    from whygrad.watch import Run


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("whygrad", "missing, zero and wrong gradients")
    group.addoption("--whygrad", action="store_true", help="watch each test and explain its gradients at the end")
    group.addoption(
        "--whygrad-fail-on", choices=("error", "warning"), help="watch, and fail a test that has such a finding"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--whygrad") or config.getoption("--whygrad-fail-on"):
        from whygrad.integrations.pytest_session import SessionWatch

        config.pluginmanager.register(SessionWatch(config), "whygrad-session")


@pytest.fixture
def whygrad(request: pytest.FixtureRequest) -> Whygrad:
    """`explain(step, ...)` and `watch()`, whose reports pytest shows where the test fails."""
    return Whygrad(request.node)


class Whygrad:
    """What the fixture gives."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    def explain(self, step: Callable[..., Any], *args: Any, **kwargs: Any) -> Report:
        """Run a step once under capture; its report."""
        from whygrad.watch import explain

        report = explain(step, *args, **kwargs)
        self._show_on_failure(report)
        return report

    @contextlib.contextmanager
    def watch(self) -> Iterator[Run]:
        """Watch a block; `report()` of what this gives says what was found."""
        from whygrad.watch import watch

        with watch() as run:
            yield run
        self._show_on_failure(run.report())

    def _show_on_failure(self, report: Report) -> None:
        from whygrad.report import render

        self._item.add_report_section("call", "whygrad", render(report, "text", color=False, width=100))
