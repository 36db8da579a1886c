"""Weights from somebody else are numbers: nothing in the file runs, and a sentence says what is wrong with it."""

from __future__ import annotations

import contextlib
import io
import pickle
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from whygrad.errors import UsageError

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def diff(tf: Any, keras: Any) -> Any:
    from whygrad import edit

    return edit.diff


def h5(fill: Any) -> bytes:
    import h5py

    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        fill(file)
    return content.getvalue()


def archive(path: Path, weights: bytes, **more: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in {"model.weights.h5": weights, **more}.items():
            file.writestr(name, content)
    return path


class Deed:
    def __reduce__(self) -> Any:
        return open, ("deed", "w")


def test_a_model_with_a_program_in_it_is_compared_and_the_program_does_not_run(
    diff: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    weights = h5(lambda file: file.create_dataset("layers/dense/vars/0", data=np.ones(3)))
    planted = pickle.dumps(Deed())
    path = archive(tmp_path / "model.keras", weights, **{"config.json": planted, "assets.pkl": planted})

    assert not diff(path, path)

    assert not (tmp_path / "deed").exists()


def test_another_file_is_not_opened(diff: Any, tmp_path: Path) -> None:
    import h5py

    secret = tmp_path / "secret"
    secret.write_bytes(b"12345678")
    outside, linked = tmp_path / "outside.h5", tmp_path / "linked.h5"
    with h5py.File(outside, "w") as file:
        file.create_dataset("x", (8,), "u1", external=[(str(secret), 0, 8)])
    with h5py.File(linked, "w") as file:
        file["x"] = h5py.ExternalLink(str(outside), "/x")

    with pytest.raises(UsageError, match="`x` is kept in another file"):
        diff(outside, outside)

    assert len(diff(linked, linked)) == 0


def test_what_claims_to_be_giant_is_refused(diff: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    giant = tmp_path / "giant.h5"
    giant.write_bytes(h5(lambda file: file.create_dataset("x", (2**40,), "f4", chunks=(1024,))))
    bomb = archive(tmp_path / "bomb.keras", bytes(2**20))

    with pytest.raises(UsageError, match="claims to hold 4398046511104 bytes where 0 are stored"):
        diff(giant, giant)
    monkeypatch.setattr("whygrad.training.edit.snapshots._MAX_SURPLUS", 2**16)
    with pytest.raises(UsageError, match="claims to hold 1048576 bytes where"):
        diff(bomb, bomb)


def test_changed_files_give_a_sentence(diff: Any, tf: Any, tmp_path: Path) -> None:
    generator = random.Random(3)
    prefix = tf.train.Checkpoint(v=tf.Variable(tf.ones([50]))).write(str(tmp_path / "point"))
    weights = h5(lambda file: file.create_dataset("layers/dense/vars/0", data=np.ones(50)))
    model = archive(tmp_path / "model.keras", weights)
    plain = tmp_path / "plain.h5"
    plain.write_bytes(weights)
    for path, source in ((Path(f"{prefix}.index"), prefix), (model, model), (plain, plain)):
        sound = path.read_bytes()
        assert not diff(source, source)
        for _ in range(40):
            content = bytearray(sound)
            for _ in range(generator.randrange(1, 20)):
                content[generator.randrange(len(content))] = generator.randrange(256)
            path.write_bytes(content)
            with contextlib.suppress(UsageError):  # anything else is a crash
                diff(source, source)
        path.write_bytes(sound)
