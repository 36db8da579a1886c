"""Pictures of every view of recorded runs, wide and narrow, light and dark.

python tools/take_screenshots.py RUNS TO   (needs playwright and Debian's chromium)

Those in `docs/pictures` show the programs in `tools/shown_programs`, each run once by `whygrad run --record --terms`.
Run it in their folder: places are shown from there.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from whygrad.store import list_runs
from whygrad.web.server import Server

CHROMIUM = "/usr/bin/chromium"
WIDTHS = {"wide": 1440, "narrow": 360}


def addresses(folder: Path) -> dict[str, str]:
    """A picture's name, and the view that it shows: of each run all that it has."""
    from whygrad.web.library import Library
    from whygrad.web.views.runs import run_view

    library = Library([folder])
    found = {"runs": "#/"}
    recorded = [run.id for run in list_runs(folder) if run.last_step is not None]  # newest first
    if len(recorded) > 1:
        found["compare"] = f"#/compare?runs={recorded[0]},{recorded[1]}"
    for run in library.runs():
        view = run_view(library, run)
        name = (view["name"] or run.id).replace(" ", "-").removesuffix(".py")
        found[f"{name}-run"] = f"#/run/{run.id}"
        if view["has_why"]:
            found[f"{name}-why"] = f"#/run/{run.id}/why"
        if view["has_nan"]:
            found[f"{name}-nan"] = f"#/run/{run.id}/nan"
        if view["variables"]:
            variable = view["variables"][0]["name"].replace("/", "%2F")
            found[f"{name}-variable"] = f"#/run/{run.id}/variable/{variable}"
    return found


def main(folder: Path, to: Path) -> None:
    to.mkdir(parents=True, exist_ok=True)
    server = Server(folder)
    threading.Thread(target=server.serve, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for size, width in WIDTHS.items():
            for scheme in ("light", "dark") if size == "wide" else ("light",):
                page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
                page.on("console", lambda message: print(message.type, message.text))
                page.on("pageerror", lambda error: print("error", error))
                for name, address in addresses(folder).items():
                    page.goto("about:blank")
                    page.goto(server.link + address)
                    page.wait_for_selector("main h1")
                    page.wait_for_timeout(300)
                    wide = page.evaluate("document.documentElement.scrollWidth")
                    if wide > width:
                        print(f"{name} at {width}: {wide} pixels wide")
                    page.screenshot(path=str(to / f"{name}-{size}-{scheme}.png"), full_page=True)
                page.close()
        browser.close()
    server.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
