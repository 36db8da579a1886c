"""Planned changes to variables: one line each, right in `fit`, in loops, inside `tf.function` and under distribution.

| what | for |
| --- | --- |
| `ExponentialAverage` | smoothed weights, swapped in for evaluation and back |
| `SoftUpdate` | target networks |
| `ClipWeights` | bounds on weights |
| `Reset` | restarts, weights and moments together |
| `Freeze`, `Unfreeze` | layers that train until, or from, a step |
| `Interpolate`, `Schedule` | any variable as a function of the step |
| `transaction` | all or nothing: an exception or a NaN puts every variable back |
| `snapshot`, `diff` | what changed between two moments or checkpoints |
"""

from whygrad.training.edit.clip_weights import ClipWeights
from whygrad.training.edit.difference import Change, Difference, VariableChange, diff
from whygrad.training.edit.exponential_average import ExponentialAverage
from whygrad.training.edit.freeze import Freeze, Unfreeze
from whygrad.training.edit.planned_edit import PlannedEdit
from whygrad.training.edit.reset import Reset
from whygrad.training.edit.schedule import Interpolate, Schedule
from whygrad.training.edit.snapshot import Snapshot, snapshot
from whygrad.training.edit.soft_update import SoftUpdate
from whygrad.training.edit.transaction import Transaction, transaction

__all__ = [
    "Change",
    "ClipWeights",
    "Difference",
    "ExponentialAverage",
    "Freeze",
    "Interpolate",
    "PlannedEdit",
    "Reset",
    "Schedule",
    "Snapshot",
    "SoftUpdate",
    "Transaction",
    "Unfreeze",
    "VariableChange",
    "diff",
    "snapshot",
    "transaction",
]
