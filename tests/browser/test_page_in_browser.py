"""Every view through all three doors, as a person meets it."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browser.conftest import HOSTILE, recorded
from store.samples import rows, track
from whygrad.report import Report
from whygrad.store import Run, RunWriter
from whygrad.web.export import run_page

Open = Callable[..., Any]


def views_of(run: Run, other: Run) -> dict[str, str]:
    """Their places, and what their titles begin with."""
    return {
        "#/": "Runs",
        f"#/run/{run.id}": "first",
        f"#/run/{run.id}/why": "Why",
        f"#/run/{run.id}/nan": "NaN and Inf",
        f"#/run/{run.id}/variable/layer_0%2Fkernel": "layer_0/kernel",
        f"#/compare?runs={run.id},{other.id}": "Compare",
    }


@pytest.mark.parametrize("width", [1440, 360])
def test_every_view_fits_the_screen(open_page: Open, address: str, run: Run, report: Report, width: int) -> None:
    other = recorded(run.path.parent, report, "second")
    for view, title in views_of(run, other).items():
        page = open_page(address + view, width=width)
        assert page.inner_text("main h1").startswith(title)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_way_is_drawn_with_its_cut_and_walked_by_keys(open_page: Open, address: str, run: Run) -> None:
    page = open_page(f"{address}#/run/{run.id}/why")

    assert [box.get_attribute("class") for box in page.query_selector_all("svg .box")] == [
        "box start",
        "box silent",
        "box cut selected",
        "box carries",
        "box loss",
    ]
    assert "stops the gradient on purpose" in page.inner_text(".details")
    page.focus("svg .box.cut")
    page.keyboard.press("ArrowDown")
    assert "selected" in page.get_attribute("svg .box.carries", "class")


def test_a_hostile_name_is_shown_as_text(open_page: Open, address: str, run: Run) -> None:
    page = open_page(f"{address}#/run/{run.id}/why")

    assert HOSTILE in page.inner_text("main")
    assert page.query_selector("main img") is None
    page.goto(f"{address}#/run/{run.id}")
    page.wait_for_selector(".wg-diagnostic")
    assert HOSTILE in page.inner_text("main")
    assert page.title() != "broken"


def test_keys_lead_from_view_to_view_and_the_theme_survives_a_reload(open_page: Open, address: str, run: Run) -> None:
    page = open_page(f"{address}#/run/{run.id}", dark=True)
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(20, 23, 27)"

    page.keyboard.press("t")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    page.keyboard.press("w")
    page.wait_for_selector("svg.way .box")
    page.reload()
    page.wait_for_selector("svg.way .box")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    page.keyboard.press("g")
    page.wait_for_selector("text=Runs")


def test_a_run_is_followed_while_it_is_written(open_page: Open, address: str, run: Run) -> None:
    writer = RunWriter.start(run.path.parent, name="live")
    layout = track(2)
    number = writer.add_track(layout)
    writer.append(number, rows(layout, range(10)))
    writer.flush()
    page = open_page(f"{address}#/run/{writer.id}")
    assert "10 steps" in page.inner_text("main")

    writer.append(number, rows(layout, range(10, 25)))
    writer.flush()

    page.wait_for_selector("text=25 steps", timeout=8000)
    writer.close()


def test_a_run_is_renamed_and_deleted_from_the_list(open_page: Open, address: str, run: Run) -> None:
    page = open_page(address)
    page.on("dialog", lambda dialog: dialog.accept("renamed" if dialog.type == "prompt" else None))

    page.click("text=rename")
    page.wait_for_selector("a:has-text('renamed')")
    page.click("button:has-text('delete')")
    page.wait_for_selector("text=There are no runs", timeout=8000)
    assert not run.path.exists()


def test_the_map_leads_to_the_variable(open_page: Open, address: str, run: Run) -> None:
    page = open_page(f"{address}#/run/{run.id}")

    page.click(".heat canvas", position={"x": 20, "y": 30})

    page.wait_for_selector("h1:has-text('layer_1/kernel')")
    assert re.search(r"step=\d+", page.url)


def test_histograms_are_drawn_for_the_step_that_is_chosen_and_it_survives_a_reload(
    open_page: Open, address: str, run: Run
) -> None:
    page = open_page(f"{address}#/run/{run.id}/variable/layer_0%2Fkernel")

    assert [each.inner_text() for each in page.query_selector_all("section:has(.bar) figcaption strong")] == [
        "gradient",
        "weight",
        "update",
    ]
    assert page.inner_text(".steps output") == "step 200"
    page.focus(".steps input")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text(".steps output") == "step 100"
    page.reload()
    page.wait_for_selector(".steps output")
    assert page.inner_text(".steps output") == "step 100"
    assert "weight at step 100: 500 elements" in page.content()


@pytest.mark.parametrize("form", ["report", "run"])
def test_the_file_opens_offline_with_all_views(
    open_page: Open, tmp_path: Path, run: Run, report: Report, form: str
) -> None:
    file = tmp_path / "page.html"
    file.write_text(report.to_html() if form == "report" else run_page(run), encoding="utf-8")

    page = open_page(file.as_uri())
    assert HOSTILE in page.inner_text("main")
    page.click("header a:text-is('Why')")
    page.wait_for_selector("svg .box.cut")
    page.click("header a:text-is('NaN')")
    page.wait_for_selector("h1:has-text('NaN and Inf')")
    if form == "run":
        page.goto(f"{file.as_uri()}#/run/-/variable/layer_0%2Fkernel/adam")
        page.wait_for_selector("h1:has-text('layer_0/kernel')")
        page.wait_for_selector(".chart .bar")


def test_without_scripts_the_file_still_says_what_was_found(browser: Any, tmp_path: Path, report: Report) -> None:
    file = tmp_path / "page.html"
    file.write_text(report.to_html(), encoding="utf-8")
    page = browser.new_page(java_script_enabled=False)

    page.goto(file.as_uri())

    assert "whygrad: 1" in page.inner_text("body")
    page.close()


def test_every_view_opens_in_the_tab_of_tensorboard(open_page: Open, run: Run, report: Report) -> None:
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tensorboard.backend import application
        from tensorboard.plugins import base_plugin
    from werkzeug.serving import make_server

    from whygrad.integrations.tensorboard_plugin import WhygradPlugin

    plugin = WhygradPlugin(base_plugin.TBContext(logdir=str(run.path.parent)))
    server = make_server("127.0.0.1", 0, application.TensorBoardWSGI([plugin]), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        other = recorded(run.path.parent, report, "second")
        page = open_page(f"http://127.0.0.1:{server.server_port}/data/plugin_entry.html?name=whygrad")
        page.click("text=first")
        page.wait_for_selector(".heat canvas")
        page.click("header a:text-is('Why')")
        page.wait_for_selector("svg .box.cut")
        for view, title in views_of(run, other).items():
            page.evaluate("place => { location.hash = place }", view)
            page.wait_for_selector(f"main h1:has-text('{title}')")
            if "/variable/" in view:
                page.wait_for_selector(".steps output:text-is('step 200')")
                assert len(page.query_selector_all("section:has(.bar) figcaption")) == 3
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_complain_of(browser: Any, address: str, run: Run, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    context = browser.new_context(bypass_csp=True, color_scheme=scheme)  # axe is put into the page
    page = context.new_page()
    for view in ("", "/why", "/nan", "/variable/layer_0%2Fkernel"):
        page.goto("about:blank")
        page.goto(f"{address}#/run/{run.id}{view}")
        page.wait_for_selector("main h1")
        found = axe.Axe().run(page).response
        assert [each["id"] for each in found["violations"] if each["impact"] in ("serious", "critical")] == []
        assert len(found["passes"]) > 5
    context.close()
