"""The WSGI application: what it serves, and whom."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whygrad.store import Run, RunWriter

pytest.importorskip("werkzeug", reason="whygrad[ui] is not installed")

from werkzeug.test import Client

from whygrad.web.access import COOKIE, Access
from whygrad.web.app import Application
from whygrad.web.library import Library
from whygrad.web.routes import ROUTES, Route

OWN = {"X-Whygrad": "1", "Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    writer = RunWriter.start(tmp_path, name="first")
    writer.close()
    assert writer.path is not None
    return Run(writer.path)


def client(run: Run, access: Access | None = None) -> Client:
    return Client(Application(Library([run.path.parent]), access))


def get(served: Client, path: str, **headers: str) -> tuple[int, Any]:
    response = served.get(path, headers=headers)
    is_json = response.mimetype == "application/json"
    return response.status_code, json.loads(response.get_data()) if is_json else response.get_data(as_text=True)


def test_the_page_and_its_scripts_are_served_with_a_strict_policy(run: Run) -> None:
    response = client(run).get("/")

    assert response.status_code == 200
    assert "unsafe" not in response.headers["Content-Security-Policy"]
    assert "script-src 'self'" in response.headers["Content-Security-Policy"]
    assert client(run).get("/main.js").mimetype == "text/javascript"
    assert client(run).get("/page.css").status_code == 200


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/static/../app.py", "/api/runs/..%2f..%2fetc", "/api/runs/%2e%2e", "/api/x", "/x.js"]
)
def test_no_address_leads_to_another_file(run: Run, path: str) -> None:
    status, data = get(client(run), path)

    assert status == 404
    assert "root:" not in json.dumps(data)


def test_another_host_name_is_refused(run: Run) -> None:
    assert get(client(run), "/", Host="evil.example")[0] == 403
    assert get(client(run), "/", Host="localhost:8000")[0] == 200
    assert get(client(run), "/", Host="[::1]:8000")[0] == 200


def test_another_address_needs_the_token(run: Run) -> None:
    access = Access.to("0.0.0.0")
    served = client(run, access)

    assert get(served, "/api/runs", Host="192.0.2.1:80")[0] == 403
    assert get(served, "/?token=wrong", Host="192.0.2.1:80")[0] == 403
    assert get(served, f"/?token={access.token}", Host="evil.example")[0] == 403
    response = served.get(f"/?token={access.token}", headers={"Host": "192.0.2.1:80"})
    assert response.status_code == 303
    assert "HttpOnly" in response.headers["Set-Cookie"]
    assert "SameSite=Strict" in response.headers["Set-Cookie"]
    served.set_cookie(COOKIE, access.token, domain="192.0.2.1")
    assert get(served, "/api/runs", Host="192.0.2.1:80")[0] == 200


def test_loopback_has_no_token() -> None:
    assert Access.to("127.0.0.1").token == ""
    assert Access.to("::1").token == ""
    assert len(Access.to("10.0.0.1").token) > 20


def test_a_get_changes_nothing(run: Run) -> None:
    assert client(run).get(f"/api/runs/{run.id}/delete").status_code == 404
    assert run.path.exists()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Whygrad": "1", "Sec-Fetch-Site": "cross-site"},
        {"X-Whygrad": "1", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "same-origin"},
    ],
)
def test_another_site_deletes_nothing(run: Run, headers: dict[str, str]) -> None:
    assert client(run).post(f"/api/runs/{run.id}/delete", headers=headers).status_code == 403
    assert run.path.exists()


def test_the_page_itself_may_rename_and_delete(run: Run) -> None:
    served = client(run)

    renamed = served.post(f"/api/runs/{run.id}/annotate", headers=OWN, json={"name": "second", "tags": ["good"]})
    assert renamed.status_code == 200
    assert get(served, "/api/runs")[1]["runs"][0]["name"] == "second"
    assert served.post(f"/api/runs/{run.id}/delete", headers=OWN).status_code == 200
    assert not run.path.exists()
    assert get(served, f"/api/runs/{run.id}")[0] == 404


@pytest.mark.parametrize("body", [{"status": "finished"}, {"tags": "x"}, {"name": 3}, {"note": "x" * 20_000}, [1]])
def test_other_facts_cannot_be_set(run: Run, body: object) -> None:
    assert client(run).post(f"/api/runs/{run.id}/annotate", headers=OWN, json=body).status_code == 400


def test_a_large_body_is_refused(run: Run) -> None:
    response = client(run).post(f"/api/runs/{run.id}/annotate", headers=OWN, data=b"x" * 100_000)

    assert response.status_code == 413


def test_every_route_answers_in_json_and_is_described(run: Run) -> None:
    served = client(run)
    paths = get(served, "/api/openapi.json")[1]["paths"]

    assert len(paths) == len(ROUTES)
    for path in paths:
        address = path.replace("{run}", run.id).replace("{request}", "0").replace("{source}", "0")
        status, data = get(served, address)
        assert status in (200, 400, 404), (path, data)
        assert isinstance(data, dict | list)


def test_a_damaged_run_is_told_with_a_sentence(run: Run) -> None:
    (run.path.parent / "broken.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 5000)

    status, data = get(client(run), "/api/runs/broken")

    assert status == 422
    assert data["error"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(route=st.sampled_from(ROUTES), words=st.lists(st.text(max_size=20), min_size=5, max_size=5))
def test_no_value_of_any_parameter_is_a_failure_of_the_server(run: Run, route: Route, words: list[str]) -> None:
    given_words = iter(words)
    path = re.sub(r"\{(?!run)\w+\}", lambda _: quote(next(given_words), safe=""), route.path).replace("{run}", run.id)

    status, _ = get(client(run), f"/api/{path}?{urlencode({name: next(given_words, '') for name in route.query})}")

    assert status < 500


def test_values_that_are_no_numbers_or_too_long_are_refused(run: Run) -> None:
    assert get(client(run), f"/api/compare?runs={run.id}&points=-1")[0] == 400
    assert get(client(run), f"/api/compare?runs={'x' * 5000}")[0] == 400
    assert get(client(run), "/api/compare")[0] == 400
