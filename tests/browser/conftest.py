"""A real browser: Playwright drives Debian's Chromium. Without either, these tests say so and are skipped."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graph_builder import GraphBuilder
from store.samples import rows, spread, track
from whygrad.diagnostics import Diagnostic, Severity
from whygrad.graph.codec import dump
from whygrad.graph.node import OpKind
from whygrad.report import Report
from whygrad.store import Rows, Run, RunWriter, attach
from whygrad.watch import explain_recording

HOSTILE = "<img src=x onerror=document.title='broken'>"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    if CHROMIUM is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


class Trouble(list[str]):
    """What went wrong in a page: errors, refused scripts, and requests to anybody else."""


@pytest.fixture
def open_page(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """`open_page(address, width=, dark=)`; in the end the page has had no error and asked no other host.

    Pages are closed before the server that they ask again and again.
    """
    trouble = Trouble()
    pages = []

    def opened(address: str, *, width: int = 1280, dark: bool = False) -> Any:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light")
        pages.append(page)
        page.set_default_timeout(8000)
        page.on("console", lambda said: trouble.append(said.text) if _is_trouble(said) else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda asked: None if _is_local(asked.url) else trouble.append(f"asked {asked.url}"))
        page.goto(address)
        page.wait_for_selector("main h1")
        return page

    yield opened
    for page in pages:
        page.close()
    assert trouble == []


def _is_trouble(said: Any) -> bool:
    """TensorBoard's frame has no icon, which is not ours to mend."""
    return said.type in ("error", "warning") and not said.location.get("url", "").endswith("favicon.ico")


def _is_local(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "file:", "data:", "about:"))


@pytest.fixture
def report() -> Report:
    g = GraphBuilder()
    w, v = g.variable(HOSTILE), g.variable("head/kernel")
    stopped = g.op(OpKind.STOP, (g.op(OpKind.SMOOTH, (w,), layers=("encoder",)),))
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.CONTRACT, (stopped, v)),))
    return explain_recording(g.finish(loss=loss))


@pytest.fixture
def run(tmp_path: Path, report: Report) -> Run:
    return recorded(tmp_path, report, "first")


def recorded(folder: Path, report: Report, name: str, steps: int = 300) -> Run:
    """A finished run with numbers, a finding and the recording of its graph."""
    writer = RunWriter.start(folder, name=name)
    layout = track(3)
    numbers = rows(layout, range(steps))
    number = writer.add_track(layout)
    writer.append(number, Rows(numbers.steps, numbers.scalars, np.abs(numbers.values)))
    for step in range(0, steps, 100):
        writer.add_histograms(number, step, spread(layout, step))
    writer.close()
    assert writer.path is not None
    assert report.recording is not None
    found = Diagnostic(
        code="WG103", rule="stop-gradient", severity=Severity.ERROR, message=f"`{HOSTILE}` is cut", variables=(HOSTILE,)
    )
    run = Run(writer.path)
    attach(run, {"recording": dump(report.recording), "report": report.to_json()}, [found])
    return run


@pytest.fixture
def address(run: Run) -> Iterator[str]:
    """Where `whygrad ui` serves the folder of the run."""
    from whygrad.web.server import Server

    server = Server(run.path.parent)
    threading.Thread(target=server.serve, daemon=True).start()
    yield server.link
    server.stop()
