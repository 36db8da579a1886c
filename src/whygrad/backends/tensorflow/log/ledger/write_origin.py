"""Who asks for a write: told from the frames between the op and the user's own code."""

from __future__ import annotations

from types import FrameType
from typing import Any, NamedTuple

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.autograph import owner_of
from whygrad.backends.tensorflow.log.ledger.writer import current_writer
from whygrad.graph.ledger import WriterKind
from whygrad.source.position import CodeOwner

_RESTORING = frozenset({"load_weights", "restore", "read", "load_model", "load_own_variables", "_restore_from_tensors"})
_FOLDERS = (
    ("/callbacks", WriterKind.CALLBACK),
    ("/checkpoint/", WriterKind.RESTORE),
    ("/saving/", WriterKind.RESTORE),
    ("/metrics/", WriterKind.METRIC),
    ("/optimizers/", WriterKind.OPTIMIZER),
    ("/layers/", WriterKind.LAYER),
    ("/trainers/", WriterKind.OTHER),
    ("/training.py", WriterKind.OTHER),
    ("/seed_generator.py", WriterKind.OTHER),
)


class Origin(NamedTuple):
    kind: WriterKind
    writer: str


def origin_of(frame: FrameType | None, layers: tuple[str, ...], optimizer: str, constrained: bool) -> Origin | None:
    """The writer; None where a variable is only being made. `optimizer` is the one whose update runs, if any does."""
    if _is_made(frame):
        return None
    planned = current_writer()
    if planned is not None:
        return Origin(WriterKind.EDIT, planned.removeprefix("edit."))
    if optimizer:
        return Origin(WriterKind.CONSTRAINT if constrained and _by_apply(frame) else WriterKind.OPTIMIZER, optimizer)
    found: Origin | None = None
    while frame is not None:
        if owner_of(frame) is not CodeOwner.MACHINERY:
            break
        found = _stronger(found, _role(frame))
        frame = frame.f_back
    if found is not None:
        return found
    if frame is None:
        return Origin(WriterKind.OTHER, "")
    if frame.f_code.co_name == "build":
        return None
    return Origin(WriterKind.LAYER, layers[-1]) if layers else Origin(WriterKind.USER, "")


def _is_made(frame: FrameType | None) -> bool:
    """Whether a variable is being made, and this is its first value."""
    for _ in range(8):
        if frame is None:
            return False
        if compat.makes_variable(frame.f_code):
            return True
        frame = frame.f_back
    return False


def _role(frame: FrameType) -> Origin | None:
    file, name = frame.f_code.co_filename.replace("\\", "/"), frame.f_code.co_name
    if name in _RESTORING and ("keras" in file or "/checkpoint/" in file or "/trackable/" in file):
        return Origin(WriterKind.RESTORE, name.lstrip("_"))
    if name == "set_weights":
        return Origin(WriterKind.USER, "set_weights")
    kind = kind_of_file(file)
    if kind is None:
        return None
    if kind in (WriterKind.RESTORE, WriterKind.OTHER):  # saving counts what it saved; `fit` counts batches
        return Origin(WriterKind.OTHER, name if kind is WriterKind.RESTORE else file.rsplit("/", 1)[-1][:-3])
    if kind is WriterKind.LAYER and name in ("__call__", "__setattr__"):
        return None
    return Origin(kind, _name(frame.f_locals.get("self"), kind))


def kind_of_file(file: str) -> WriterKind | None:
    """What kind of writer the code of a framework's file is; None for one that only passes writes on."""
    path = file.replace("\\", "/")
    return next((kind for part, kind in _FOLDERS if part in path), None)


_STRENGTH = {WriterKind.CALLBACK: 3, WriterKind.RESTORE: 2, WriterKind.OTHER: -1}


def _stronger(found: Origin | None, role: Origin | None) -> Origin | None:
    """The innermost role, unless one further out explains it: a callback that sets weights, a file being loaded."""
    if found is None or role is None:
        return found or role
    if found.kind is role.kind is WriterKind.RESTORE:
        return role  # the outermost name is the one the user called
    return role if _STRENGTH.get(role.kind, 0) > _STRENGTH.get(found.kind, 0) else found


def _name(owner: Any, kind: WriterKind) -> str:
    if owner is None:
        return ""
    if kind is WriterKind.CALLBACK:
        return type(owner).__name__
    return str(getattr(owner, "path", None) or getattr(owner, "name", None) or type(owner).__name__)


def _by_apply(frame: FrameType | None) -> bool:
    """Whether `apply` itself assigns, as it does for constraints; updates are made by the optimizer's other methods."""
    while frame is not None:
        file = frame.f_code.co_filename.replace("\\", "/")
        if "/optimizers/" in file or "optimizer" in file.rsplit("/", 1)[-1]:
            return frame.f_code.co_name in ("apply", "apply_gradients")
        frame = frame.f_back
    return False


_METHODS = {
    "AssignVariableOp": "assign",
    "AssignAddVariableOp": "assign_add",
    "AssignSubVariableOp": "assign_sub",
    "ResourceStridedSliceAssign": "slice assign",
}


def method_of(op_type: str) -> str:
    """What the user would call it: `ResourceScatterNdAdd` is `scatter_nd_add`."""
    known = _METHODS.get(op_type)
    if known is not None:
        return known
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in op_type)
    return words.lstrip("_").removeprefix("resource_")
