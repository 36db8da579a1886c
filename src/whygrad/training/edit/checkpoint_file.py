"""Values out of saved files: TensorFlow checkpoints, SavedModels, Keras weight files and models."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import tensorflow as tf

from whygrad.errors import UsageError
from whygrad.training.edit.snapshot import Snapshot

_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


def read_checkpoint(path: str | os.PathLike[str]) -> Snapshot:
    """The variables in a file: a checkpoint's prefix or folder, a SavedModel, `.weights.h5`, `.h5` or `.keras`."""
    name = os.fspath(path)
    try:
        if name.endswith((".keras", ".h5", ".hdf5")):
            values = _keras_file(Path(name))
        else:
            values = _checkpoint(_prefix(name))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile, tf.errors.OpError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(
            f"cannot read variables from {name}: {reason}",
            help="give the prefix of a checkpoint, a SavedModel's folder, or a .weights.h5, .h5 or .keras file",
        ) from error
    return Snapshot(MappingProxyType(values), name)


def _prefix(name: str) -> str:
    inside = Path(name, "variables", "variables.index")
    if inside.exists():
        return str(inside.with_suffix(""))
    if os.path.isdir(name):
        latest = tf.train.latest_checkpoint(name)
        if latest is None:
            raise UsageError(f"there is no checkpoint in {name}")
        return str(latest)
    return name.removesuffix(".index")


def _checkpoint(prefix: str) -> dict[str, Any]:
    reader = tf.train.load_checkpoint(prefix)
    names = sorted(name for name in reader.get_variable_to_shape_map() if not name.startswith("_CHECKPOINTABLE"))
    return {name.removesuffix(_VALUE): np.asarray(reader.get_tensor(name)) for name in names}


def _keras_file(path: Path) -> dict[str, Any]:
    import h5py

    if path.suffix == ".keras":
        with zipfile.ZipFile(path) as archive:
            source: Any = io.BytesIO(archive.read("model.weights.h5"))
    else:
        source = path
    values: dict[str, Any] = {}

    def keep(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            values[name] = np.asarray(item)

    with h5py.File(source, "r") as file:
        file.visititems(keep)
    return values
