"""`snapshot`: the values of variables at one moment, as arrays, of living ones or out of saved files.

A file may be somebody else's. Only numbers are taken out of it: no layer is made, nothing is unpickled, no other file
is opened, and it cannot claim to hold much more than its size.
"""

from __future__ import annotations

import io
import math
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import tensorflow as tf

from whygrad.arguments import check_text
from whygrad.backends.tensorflow import compat
from whygrad.errors import UnknownNameError, UsageError
from whygrad.training.edit.owned_variables import variables_of
from whygrad.training.variables import distinct, name_of

KERAS_FILES: Final = (".keras", ".h5", ".hdf5")
_VALUE: Final = "/.ATTRIBUTES/VARIABLE_VALUE"
_MAX_SHRINKAGE: Final = 20  # weights hardly shrink when they are compressed; Keras does not even try
_MAX_SURPLUS: Final = 2**30  # bytes beyond that, for all that is zero


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Values by the name of the variable, in the order they were made; `snapshot["dense/kernel"]` is an array."""

    values: Mapping[str, Any]
    label: str = ""

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str) or name not in self.values:
            raise UnknownNameError(name, self.values, "variable")
        return self.values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        size = sum(value.nbytes for value in self.values.values())
        return f"<Snapshot of {len(self)} variables, {size:,} bytes>"


def snapshot(*owners: Any, label: str = "") -> Snapshot:
    """Copy the variables of models, optimizers, modules, or variables themselves; `label` is shown by `diff`."""
    check_text("label", label)
    values: dict[str, Any] = {}
    variables = variables_of(*owners)
    for name, variable in zip(distinct(map(name_of, variables)), variables, strict=True):
        values[name] = np.array(compat.native(variable).numpy())
        values[name].flags.writeable = False
    return Snapshot(MappingProxyType(values), label)


def read_checkpoint(path: str | os.PathLike[str]) -> Snapshot:
    """The variables in a file: a checkpoint's prefix or folder, a SavedModel, `.weights.h5`, `.h5` or `.keras`."""
    name = os.fspath(path)
    try:
        if name.endswith(KERAS_FILES):
            values = _keras_file(Path(name))
        else:
            values = _checkpoint(_prefix(name))
    except UsageError:
        raise
    except Exception as error:  # whatever a damaged file brings about
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(
            f"cannot read variables from {name}: {reason}",
            help="give the prefix of a checkpoint, a SavedModel's folder, or a .weights.h5, .h5 or .keras file",
        ) from error
    return Snapshot(MappingProxyType(values), name)


def as_saved(model: Any, like: str | os.PathLike[str]) -> Snapshot:
    """The present values of a Keras model, under the names that a file of this kind gives them."""
    name = os.fspath(like)
    is_weights = name.endswith((".weights.h5", ".keras"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "now.weights.h5" if is_weights else "now.h5")
        (model.save_weights if is_weights else model.save)(str(path))
        return Snapshot(MappingProxyType(_keras_file(path)), "now")


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
    shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    names = sorted(name for name in shapes if not name.startswith("_CHECKPOINTABLE"))
    held = sum(file.stat().st_size for file in Path(prefix).parent.glob(f"{Path(prefix).name}.data-*"))
    wanted = sum(math.prod(shapes[name]) * types[name].size for name in names if types[name] != tf.string)
    if 0 < held < wanted:  # an old checkpoint has no such files
        raise ValueError(f"it claims to hold {wanted} bytes and has {held}")
    return {name.removesuffix(_VALUE): np.asarray(reader.get_tensor(name)) for name in names}


def _keras_file(path: Path) -> dict[str, Any]:
    import h5py

    if path.suffix == ".keras":
        with zipfile.ZipFile(path) as archive:
            inside = archive.getinfo("model.weights.h5")
            _surplus(inside.file_size, inside.compress_size, 0)
            source: Any = io.BytesIO(archive.read(inside))
    else:
        source = path
    values: dict[str, Any] = {}
    surplus = 0

    def keep(name: str, item: Any) -> None:
        nonlocal surplus
        if isinstance(item, h5py.Dataset):
            if item.external or item.is_virtual:
                raise ValueError(f"`{name}` is kept in another file")
            surplus = _surplus(item.nbytes, item.id.get_storage_size(), surplus)
            values[name] = np.asarray(item)

    with h5py.File(source, "r") as file:
        file.visititems(keep)
    return values


def _surplus(size: int, stored: int, before: int) -> int:
    """How much more there is than could have been stored, with what came before."""
    total = before + max(0, size - _MAX_SHRINKAGE * stored)
    if total > _MAX_SURPLUS:
        raise ValueError(f"it claims to hold {size} bytes where {stored} are stored")
    return total
