"""The one-file page: what is in it, and what cannot get out of it."""

from __future__ import annotations

import json
import re

from hypothesis import given

from graph_builder import GraphBuilder
from report.strategies import REPORTS
from whygrad.diagnostics import Diagnostic, Edit, Fix, Label, Severity
from whygrad.graph.node import OpKind
from whygrad.report import Report, render
from whygrad.report.html import card
from whygrad.report.page import assets
from whygrad.source import SourceSpan, texts_of

HOSTILE = "</script><img src=x onerror=alert(1)>"


def data_of(page: str) -> dict[str, object]:
    found = re.search(r"<script type='application/json' id='data'>(.*?)</script>", page, re.DOTALL)
    assert found is not None
    data: dict[str, object] = json.loads(found[1])
    return data


def report() -> Report:
    g = GraphBuilder()
    w = g.variable(HOSTILE)
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.STOP, (w,)),))
    finding = Diagnostic(
        code="WG103", rule="stop-gradient", severity=Severity.ERROR, message=f"no gradient reaches `{HOSTILE}`"
    )
    return Report(diagnostics=(finding,), recording=g.finish(loss=loss))


def test_the_page_has_the_report_and_the_ways() -> None:
    data = data_of(report().to_html())

    assert data["run"]["verdict"] == f"1 error: no gradient reaches `{HOSTILE}`"  # type: ignore[index]
    assert data["way/0/0"]["verdict"].startswith(f"the path from `{HOSTILE}` to `loss` is cut")  # type: ignore[index]
    assert data["why"][0]["sources"][0]["outcome"] == "missing"  # type: ignore[index]


@given(report=REPORTS)
def test_every_report_is_a_page_that_says_every_message(report: Report) -> None:
    data = data_of(render(report, "html"))

    found = [finding["message"] for finding in data["run"]["findings"]]  # type: ignore[index]
    assert found == [" ".join(each.message.splitlines()) for each in report.diagnostics]


def test_a_hostile_name_stays_text() -> None:
    page = render(report(), "html")

    assert "<img" not in page.partition("<script type='module'>")[0]
    assert page.count("</script>") == 2


def test_the_policy_names_what_the_page_consists_of() -> None:
    page = report().to_html()

    assert assets.digest(assets.script()) in page.replace("&#x27;", "'")
    assert assets.digest(assets.style()) in page.replace("&#x27;", "'")
    assert "unsafe-inline" not in page
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)


def test_the_modules_can_stand_one_after_another() -> None:
    text = assets.script()
    names = re.findall(r"^(?:async )?(?:const|let|function|async function) (\w+)", text, re.MULTILINE)

    assert len(names) == len(set(names)) > 30
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)


def test_only_files_of_the_page_are_assets() -> None:
    assert assets.asset("../assets.py") is None
    assert assets.asset("page.css") is not None


def test_a_fix_is_shown_as_a_change() -> None:
    span = SourceSpan("a.py", 1, 4, 1, 15)
    finding = Diagnostic(
        code="WG1",
        rule="r",
        severity=Severity.ERROR,
        message="m",
        primary=Label(span, ""),
        fixes=(Fix(title="use it", edits=(Edit(span, "tf.identity"),)),),
    )
    with texts_of({"a.py": "y = tf.stop_grad(x)"}):
        shown = card(finding)

    assert "<del>- y = tf.stop_grad(x)</del>" in shown
    assert "<ins>+ y = tf.identity" in shown
