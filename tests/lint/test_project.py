"""Values are followed into other files of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from whygrad.lint.files.cache import Cache
from whygrad.lint.files.project import check_files

MODEL = """import keras
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.out = keras.layers.Dense(1)
    def call(self, x):
        return self.out(x)
def make():
    return Net()
"""
LOSS = """import tensorflow as tf
def hard(prediction):
    return tf.reduce_mean(tf.round(prediction))
"""
TRAIN = """import tensorflow as tf
{imports}
net = make()
with tf.GradientTape() as tape:
    loss = {hard}(net(tf.ones((2, 3))))
tape.gradient(loss, net.trainable_variables)
"""


def places(folder: Path) -> list[tuple[str, str, int]]:
    files = sorted(folder.rglob("*.py"))
    found = check_files(files, Cache(folder / "cache"), jobs=1)
    spans = [(each.rule, each.primary) for one in found.values() for each in one.diagnostics]
    return [(rule, Path(label.span.file).name, label.span.line) for rule, label in spans if label is not None]


def write(folder: Path, imports: str, hard: str = "hard", home: str = "") -> None:
    (folder / home).mkdir(exist_ok=True)
    (folder / home / "model.py").write_text(MODEL)
    (folder / home / "loss.py").write_text(LOSS)
    (folder / "train.py").write_text(TRAIN.format(imports=imports, hard=hard))


@pytest.mark.parametrize(
    ("imports", "hard"),
    [
        ("from model import make\nfrom loss import hard", "hard"),
        ("from model import *\nimport loss", "loss.hard"),
        ("from model import make as make\nimport loss as l", "l.hard"),
    ],
)
def test_a_mistake_that_two_files_make_together_is_found(tmp_path: Path, imports: str, hard: str) -> None:
    write(tmp_path, imports, hard)

    assert places(tmp_path) == [("non-differentiable-op", "loss.py", 3)]


def test_packages_and_relative_imports_are_followed(tmp_path: Path) -> None:
    write(tmp_path, "from parts.model import make\nfrom parts import hard", home="parts")
    (tmp_path / "parts" / "__init__.py").write_text("import tensorflow\nfrom .loss import hard\n")

    assert places(tmp_path) == [("non-differentiable-op", "loss.py", 3)]


def test_a_comment_in_the_other_file_silences_it(tmp_path: Path) -> None:
    write(tmp_path, "from model import make\nfrom loss import hard")
    (tmp_path / "loss.py").write_text(LOSS.replace("(prediction))", "(prediction))  # whygrad: ignore[WL101]"))

    assert [place for place in places(tmp_path) if place[0] != "unused-ignore"] == []


def test_a_file_is_checked_again_when_one_that_it_imports_has_changed(tmp_path: Path) -> None:
    write(tmp_path, "from model import make\nfrom loss import hard")
    assert places(tmp_path) != []
    (tmp_path / "loss.py").write_text(LOSS.replace("tf.round", "tf.square"))

    assert places(tmp_path) == []


def test_files_that_import_one_another_or_cannot_be_read_do_no_harm(tmp_path: Path) -> None:
    write(tmp_path, "from model import make\nfrom loss import hard\nimport broken, train")
    (tmp_path / "loss.py").write_text("from train import net\n" + LOSS)
    (tmp_path / "broken.py").write_text("import tensorflow\nx = (\n")

    assert [place for place in places(tmp_path) if place[0] != "unreadable-file"] == [
        ("non-differentiable-op", "loss.py", 4)
    ]
