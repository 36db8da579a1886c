"""`whygrad doctor` says what is here, what is missing, and what to do."""

from __future__ import annotations

import importlib.util
from importlib import metadata
from pathlib import Path

import pytest

import whygrad.backends
from whygrad.cli import doctor
from whygrad.cli.commands import parse


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    return tmp_path


def install(monkeypatch: pytest.MonkeyPatch, versions: dict[str, str], lost: dict[str, str] | None = None) -> None:
    """Pretend that these distributions are installed, and that TensorFlow lacks these names."""

    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(doctor.metadata, "version", version)
    spec = importlib.util.find_spec("whygrad") if any(name.startswith("t") for name in versions) else None
    monkeypatch.setattr(doctor.util, "find_spec", lambda _: spec)
    monkeypatch.setattr(whygrad.backends, "capabilities", lambda _: (39, lost or {}))


def test_where_all_is_well_there_is_nothing_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, {"tensorflow": "2.21.0", "keras": "3.15.1"})

    assert parse(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "tensorflow     2.21.0 (tensorflow)\nkeras          3.15.1\ntf_keras       not installed\n" in text
    assert "39 of 39 private names of TensorFlow were found" in text
    assert text.endswith("nothing to do: whygrad can watch, lint and fix here\n")


def test_without_tensorflow_it_says_what_works_and_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, {})

    assert parse(["doctor"]) == 1
    text = capsys.readouterr().out
    assert "tensorflow     not installed" in text
    assert "to do: pip install tensorflow" in text


def test_a_missing_name_is_told_with_what_it_turns_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(
        monkeypatch, {"tf-nightly": "2.30.0"}, {"tensorflow.python.eager.x": "custom gradients are not looked into"}
    )

    assert parse(["doctor"]) == 1
    text = capsys.readouterr().out
    assert "38 of 39 private names" in text
    assert "missing        tensorflow.python.eager.x: custom gradients are not looked into" in text


def test_two_tensorflows_are_one_too_many(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    install(monkeypatch, {"tensorflow": "2.21.0", "tensorflow-cpu": "2.20.0"})

    assert parse(["doctor"]) == 1
    assert "to do: keep one of tensorflow and tensorflow-cpu" in capsys.readouterr().out


def test_the_configuration_is_named_or_said_to_be_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], somewhere: Path
) -> None:
    install(monkeypatch, {"tensorflow": "2.21.0"})
    file = somewhere / "pyproject.toml"

    file.write_text("[tool.whygrad]\nignore = ['WG104']\n")
    assert parse(["doctor"]) == 0
    assert f"configuration  {file}\n" in capsys.readouterr().out

    file.write_text("[tool.whygrad]\nignroe = []\n")
    assert parse(["doctor"]) == 1
    assert "configuration  not read: unknown key `ignroe`" in capsys.readouterr().out


def test_a_keras_on_another_backend_is_not_watched(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, {"tensorflow": "2.21.0"})
    monkeypatch.setenv("KERAS_BACKEND", "jax")

    assert parse(["doctor"]) == 1
    assert "to do: unset KERAS_BACKEND=jax" in capsys.readouterr().out
