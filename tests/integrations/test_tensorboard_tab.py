"""The tab in TensorBoard, asked through TensorBoard's own application."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

pytest.importorskip("tensorboard", reason="TensorBoard is not installed")

from tensorboard.plugins import base_plugin
from werkzeug.test import Client

from whygrad.integrations.tensorboard_plugin import WhygradPlugin
from whygrad.store import RunWriter


def served(logdir: Path) -> Client:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what TensorBoard imports
        from tensorboard.backend import application

    plugin = WhygradPlugin(base_plugin.TBContext(logdir=str(logdir)))
    return Client(application.TensorBoardWSGI([plugin], path_prefix=""))


def test_the_tab_shows_the_runs_below_the_log_directory(tmp_path: Path) -> None:
    writer = RunWriter.start(tmp_path / "train" / ".whygrad", name="first")
    writer.close()
    client = served(tmp_path)

    listing = json.loads(client.get("/data/plugins_listing").get_data())["whygrad"]
    assert listing["enabled"]
    assert listing["loading_mechanism"]["module_path"] == "/data/plugin/whygrad/tensorboard.js"
    found = json.loads(client.get("/data/plugin/whygrad/api/runs").get_data())
    assert [run["name"] for run in found["runs"]] == ["first"]
    assert client.get("/data/plugin/whygrad/index.html").status_code == 200
    assert client.get("/data/plugin/whygrad/main.js").mimetype == "text/javascript"


def test_nothing_is_changed_there(tmp_path: Path) -> None:
    writer = RunWriter.start(tmp_path)
    writer.close()
    headers = {"X-Whygrad": "1"}

    answer = served(tmp_path).post(f"/data/plugin/whygrad/api/runs/{writer.id}/delete", headers=headers)

    assert answer.status_code == 403
    assert writer.path is not None
    assert writer.path.exists()


def test_without_runs_the_tab_is_not_active(tmp_path: Path) -> None:
    assert not WhygradPlugin(base_plugin.TBContext(logdir=str(tmp_path))).is_active()
    assert not WhygradPlugin(base_plugin.TBContext(logdir=None)).is_active()
